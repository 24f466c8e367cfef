#pragma once

// Reads and writes whole files by system calls, for the launch helper.

#include "grammar/namespaces.h"

#include <optional>
#include <string>
#include <string_view>

namespace ptxasw::wrapper::launch {

/// A pipe in the directory of a run of `ptxasw faster`, which wakes when something comes out of it.
/// (A watch of the directory by inotify would do, but to close one takes the kernel 15 ms or more,
/// and every program would wait for that at its end.)
inline constexpr char bell_file[] = "bell";

/// A file's bytes; nothing if it cannot be read, or is a symbolic link in its last part.
std::optional<std::string> read_whole(const std::string &path);

/// The same; nothing if it is no regular file of this user's.
std::optional<std::string> read_whole_own(const std::string &path);

/// Writes a file for its owner alone, which is new or is replaced. False on any error; the file may
/// then hold a part. Nothing is written beyond the limit on file sizes, whose signal would end the
/// program.
bool write_whole(const std::string &path, std::string_view text);

/// The same, under its name only when it is whole: whoever is killed leaves the last one. Whoever
/// waits at the directory's bell is woken.
bool replace_whole(const std::string &path, std::string_view text);

} // namespace ptxasw::wrapper::launch
