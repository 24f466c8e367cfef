#pragma once

// What the file of a program that `ptxasw faster` is to run says of it.

#include <optional>
#include <string>
#include <tl/expected.hpp>
#include <vector>

namespace ptxasw::wrapper {

/// What the head of an ELF file of 64 bits says of the libraries that it is linked with.
struct Linked {
  bool dynamically = false;           ///< it has a dynamic linker
  std::vector<std::string> libraries; ///< DT_NEEDED
};

/// Nothing if the file is none, or is damaged.
std::optional<Linked> read_linked(const std::string &path);

/// Errors: why a program must have no library of ours in front of it.
tl::expected<void, std::string> check_in_front(const std::string &program);

/// Errors: why a program has no library of ours in front of it, wherever that can be told.
tl::expected<void, std::string> check_preloaded(const std::string &program);

} // namespace ptxasw::wrapper
