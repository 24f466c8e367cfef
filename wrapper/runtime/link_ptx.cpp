// Linking is done on the text. Of each visible name one definition stays, the strong one before
// weak and common ones; declarations and other definitions of it go. Names that are internal to a
// module and occur in an earlier one get a number. What all modules need first, functions'
// prototypes and variables, stands before what uses it: the declarations of functions are written
// out once at the beginning, and the variables follow before any function.

#include "wrapper/runtime/link_ptx.h"

#include "grammar/edits.h"
#include "grammar/module.h"

#include <algorithm>
#include <fmt/core.h>
#include <map>
#include <memory>
#include <set>
#include <vector>

namespace ptxasw::wrapper {
namespace {

/// Where a visible name is defined.
struct Definition {
  std::size_t module = 0;
  std::size_t index = 0;  ///< in Module::functions or ::variables
  unsigned strength = 0;  ///< 2 strong, 1 weak or common, 0 none
  std::uint64_t size = 0; ///< of a common one, of which the largest counts
};

unsigned strength_of(Linkage linkage) {
  return linkage == Linkage::weak || linkage == Linkage::common ? 1 : 2;
}

bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '$' || c == '%';
}

/// The text with whole words of it replaced.
std::string renamed(std::string_view text,
                    const std::map<std::string, std::string, std::less<>> &names) {
  std::string result;
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = at;
    while (end < text.size() && is_word(text[end]))
      ++end;
    if (end == at) {
      result += text[at++];
      continue;
    }
    const auto found = names.find(text.substr(at, end - at));
    result += found == names.end() ? text.substr(at, end - at) : std::string_view(found->second);
    at = end;
  }
  return result;
}

class Linker {
public:
  tl::expected<std::string, std::string> link(std::span<const std::string> texts) {
    for (const std::string &text : texts) {
      auto parsed = parse(text, "the program's PTX");
      if (!parsed)
        return tl::unexpected(format(parsed.error()));
      modules_.push_back(std::move(*parsed));
    }
    find_definitions();
    if (!error_.empty())
      return tl::unexpected(error_);
    find_new_names();
    std::string head, prototypes, variables, functions;
    unsigned major = 0, minor = 0, sm = 0;
    std::string_view target;
    for (const auto &module : modules_) {
      if (std::pair(module->version_major, module->version_minor) > std::pair(major, minor))
        major = module->version_major, minor = module->version_minor;
      if (module->sm >= sm)
        sm = module->sm, target = module->target;
    }
    head = fmt::format(".version {}.{}\n.target {}\n.address_size 64\n", major, minor, target);
    std::uint32_t files = 0;
    for (std::size_t m = 0; m < modules_.size(); ++m) {
      // `.file` numbers are one module's own.
      for (const auto &[number, name] : modules_[m]->files)
        head += fmt::format(".file {} \"{}\"\n", files + number, name);
      add(m, files, prototypes, variables, functions);
      for (const auto &[number, name] : modules_[m]->files)
        last_file_ = std::max(last_file_, files + number);
      files = last_file_;
    }
    return head + prototypes + variables + functions;
  }

private:
  void find_definitions() {
    for (std::size_t m = 0; m < modules_.size(); ++m) {
      const Module &module = *modules_[m];
      for (std::size_t f = 0; f < module.functions.size(); ++f) {
        const Function &function = module.functions[f];
        if (function.has_body && function.linkage != Linkage::internal)
          define(std::string(function.name), {m, f, strength_of(function.linkage), 0});
      }
      for (std::size_t v = 0; v < module.variables.size(); ++v) {
        const Variable &variable = module.variables[v];
        if (variable.linkage != Linkage::internal && variable.linkage != Linkage::external)
          define(std::string(variable.name),
                 {m, v, strength_of(variable.linkage), variable.size()});
      }
    }
  }

  void define(const std::string &name, const Definition &definition) {
    Definition &known = definitions_[name];
    if (known.strength == 2 && definition.strength == 2)
      error_ = fmt::format("`{}` is defined twice", name);
    if (definition.strength > known.strength ||
        (definition.strength == known.strength && definition.size > known.size))
      known = definition;
  }

  // Of functions and variables that only their module sees.
  void find_new_names() {
    std::set<std::string> taken;
    for (const auto &[name, definition] : definitions_)
      taken.insert(name);
    names_.resize(modules_.size());
    for (std::size_t m = 0; m < modules_.size(); ++m) {
      const auto give = [&](std::string_view name) {
        if (taken.insert(std::string(name)).second)
          return;
        std::string other = fmt::format("{}__{}", name, m);
        while (!taken.insert(other).second)
          other += '_';
        names_[m].emplace(name, other);
      };
      std::set<std::string_view> seen;
      for (const Function &function : modules_[m]->functions)
        if (function.linkage == Linkage::internal && seen.insert(function.name).second)
          give(function.name);
      for (const Variable &variable : modules_[m]->variables)
        if (variable.linkage == Linkage::internal && seen.insert(variable.name).second)
          give(variable.name);
    }
  }

  bool is_definition(std::string_view name, std::size_t module, std::size_t index) const {
    const auto found = definitions_.find(name);
    return found == definitions_.end() ||
           (found->second.module == module && found->second.index == index);
  }

  void add(std::size_t m, std::uint32_t files, std::string &prototypes, std::string &variables,
           std::string &functions) {
    const Module &module = *modules_[m];
    const auto text_of = [&](Span span) { return renamed(module.text(span), names_[m]); };
    for (std::size_t v = 0; v < module.variables.size(); ++v) {
      const Variable &variable = module.variables[v];
      const bool dynamic =
          variable.space == StateSpace::shared && variable.linkage == Linkage::external;
      if (dynamic ? !declared_.insert(std::string(variable.name)).second
                  : variable.linkage == Linkage::external && definitions_.contains(variable.name))
        continue;
      if (!dynamic && variable.linkage == Linkage::external)
        error_ = fmt::format("`{}` is defined nowhere", variable.name);
      if (variable.linkage != Linkage::internal && !dynamic && !is_definition(variable.name, m, v))
        continue;
      variables += text_of(variable.span) + "\n";
    }
    for (std::size_t f = 0; f < module.functions.size(); ++f) {
      const Function &function = module.functions[f];
      if (!function.is_entry) {
        // Everything before the body.
        const Span head{function.span.begin,
                        function.has_body ? function.body.begin : function.span.end};
        std::string prototype = text_of(head);
        while (!prototype.empty() && (prototype.back() == ';' || prototype.back() <= ' '))
          prototype.pop_back();
        const auto renamed_to = names_[m].find(function.name);
        const std::string name(
            renamed_to == names_[m].end() ? function.name : std::string_view(renamed_to->second));
        if (declared_.insert(name).second)
          prototypes += prototype + "\n;\n";
      }
      if (!function.has_body ||
          (function.linkage != Linkage::internal && !is_definition(function.name, m, f)))
        continue;
      functions += with_files(text_of(function.span), files) + "\n";
    }
  }

  /// `.loc` names a file by its number.
  static std::string with_files(const std::string &text, std::uint32_t files) {
    if (files == 0)
      return text;
    std::string result;
    std::size_t from = 0;
    for (std::size_t at = text.find(".loc"); at != text.npos; at = text.find(".loc", at + 1)) {
      std::size_t digit = at + 4;
      while (digit < text.size() && (text[digit] == ' ' || text[digit] == '\t'))
        ++digit;
      std::size_t end = digit;
      while (end < text.size() && text[end] >= '0' && text[end] <= '9')
        ++end;
      if (end == digit || digit == at + 4)
        continue;
      result += text.substr(from, digit - from) +
                std::to_string(std::stoul(text.substr(digit, end - digit)) + files);
      from = end;
    }
    return result + text.substr(from);
  }

  std::vector<std::unique_ptr<Module>> modules_;
  std::map<std::string, Definition, std::less<>> definitions_;
  std::vector<std::map<std::string, std::string, std::less<>>> names_; ///< by module
  std::set<std::string> declared_;
  std::uint32_t last_file_ = 0;
  std::string error_;

public:
  const std::string &error() const { return error_; }
};

} // namespace

tl::expected<std::string, std::string> link_ptx(std::span<const std::string> texts) {
  Linker linker;
  auto linked = linker.link(texts);
  if (linked && !linker.error().empty())
    return tl::unexpected(linker.error());
  return linked;
}

} // namespace ptxasw::wrapper
