#pragma once

// What runs of `ptxasw faster` remember: the versions of kernels that were assembled, what was
// chosen among them, and of which PTX NVRTC made machine code. Many processes may use it at once; a
// fault costs what is remembered and nothing else.

#include "wrapper/launch/answer.h"
#include "wrapper/launch/profile.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tl/expected.hpp>

namespace ptxasw::wrapper::faster {

class Store {
public:
  /// The directory `faster` of `$XDG_CACHE_HOME/ptxasw`, or of `~/.cache/ptxasw`; it is made if
  /// need be. `limit`: bytes that all files together may have.
  explicit Store(std::uint64_t limit = std::uint64_t{256} << 20);

  /// Errors: why nothing can be kept, for people.
  const tl::expected<void, std::string> &usable() const { return usable_; }
  const std::string &directory() const { return directory_; }

  /// What was answered before, with the choices that were made since. A file that is damaged, or
  /// that another version wrote, is removed.
  std::optional<launch::Answer> find(const std::string &key);
  /// Keeps an answer, and removes what was used longest ago if there is too much. False: there is
  /// no room, or nothing can be written.
  bool keep(const std::string &key, const launch::Answer &answer);
  /// What stands behind the `-` in the keys of all answers with versions, a line each.
  std::string remembered() const;
  /// How long a launch took of the kernels of which an answer's key has that behind its `-`, the
  /// longest one, microseconds; 0: nothing is known.
  double remembered_us(const std::string &name);
  /// Keeps a file with the PTX of machine code (launch/answer.h), of that name and with these
  /// bytes. False: it is none, or nothing can be written. Room is made by make_room() afterwards.
  bool keep_compiled(const std::string &name, const std::string &bytes);
  /// For the file `compiled` of a run: the directory, and the names of all such files, a line each.
  std::string compiled() const;
  /// The compute capability of the GPU that a program had last: 90; 0: none is known.
  unsigned gpu() const;
  void set_gpu(unsigned sm);
  /// Removes what was used longest ago if there is too much.
  void make_room();
  /// Adds to the choices for an answer that is there.
  bool merge(const std::string &key, const launch::Profile &profile);

  /// The right to make the answer of a key: while one process has it, no other gets it. It ends
  /// with the process, however that ends.
  enum class Right { ours, theirs, nobodys };
  /// `nobodys`: there are no locks here; everybody may.
  Right take(const std::string &key);
  void give_back();

private:
  std::string path(const std::string &key, const char *kind) const;

  std::string directory_;
  tl::expected<void, std::string> usable_;
  std::uint64_t limit_;
  /// Files with choices by what stands behind the `-`, once they were looked for.
  std::optional<std::multimap<std::string, std::string>> choices_;
  int right_ = -1;
};

} // namespace ptxasw::wrapper::faster
