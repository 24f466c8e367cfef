#pragma once

// Reads and writes whole files by system calls, for the launch helper.

#include "grammar/namespaces.h"

#include <optional>
#include <string>
#include <string_view>

namespace ptxasw::wrapper::launch {

/// A file's bytes; nothing if it cannot be read, or is a symbolic link in its last part.
std::optional<std::string> read_whole(const std::string &path);

/// The same; nothing if it is no regular file of this user's.
std::optional<std::string> read_whole_own(const std::string &path);

/// Writes a file for its owner alone, which is new or is replaced. False on any error; the file may
/// then hold a part. Nothing is written beyond the limit on file sizes, whose signal would end the
/// program.
bool write_whole(const std::string &path, std::string_view text);

/// The same, under its name only when it is whole: whoever is killed leaves the last one.
bool replace_whole(const std::string &path, std::string_view text);

} // namespace ptxasw::wrapper::launch
