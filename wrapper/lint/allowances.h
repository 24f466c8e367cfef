#pragma once

// Warnings that whoever wrote the source wants to live with: a comment on the line, or on lines of
// comments right above it,
//
//     // ptxasw: allow(uncoalesced) the matrix is 8 by 8
//
// or a setting for files. Without `.loc` the comments of the PTX itself count.

#include "wrapper/lint/sources.h"
#include "wrapper/settings/lint_choices.h"

#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace ptxasw::wrapper {

class Allowances {
public:
  /// Both must outlive it.
  Allowances(Sources &sources, const LintChoices &choices) : sources_(sources), choices_(choices) {}

  /// Has the comments of a module's sources looked at by unused(). `ptx`: what the module is
  /// called.
  void look_at(const Module &module, const std::string &ptx);
  /// Returns true if a warning is allowed where it stands, or where that was inlined. `line`: in
  /// the PTX, which counts where there is no source.
  bool allow(lint::Code code, const std::optional<Place> &source,
             const std::vector<Place> &inlined_at, const Module &module, std::uint32_t line);

  /// A comment, or an entry of the setting, that allows what nobody warns of.
  struct Unused {
    std::string place; ///< `file:line`, or the setting's name
    std::string sentence;
  };
  /// Those that allowed nothing in the modules looked at, in the order of files and lines; and
  /// codes that there are none of.
  std::vector<Unused> unused();

private:
  bool by_comment(lint::Code code, const std::string &file, std::uint32_t line,
                  const std::vector<std::string> &lines);

  Sources &sources_;
  const LintChoices &choices_;
  std::set<std::tuple<std::string, std::uint32_t, std::string>> used_; ///< file, line, code
  std::set<const AllowedFile *> used_files_;
  /// Of files: the lines that code was made from.
  std::map<std::string, std::set<std::uint32_t>> seen_;
  /// Modules without `.loc` in which something is allowed: name, lines.
  struct Ptx {
    const Module *module;
    std::string name;
    std::vector<std::string> lines;
  };
  std::vector<Ptx> ptx_;
};

} // namespace ptxasw::wrapper
