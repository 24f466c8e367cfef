#pragma once

// Files, read and written so that nobody sees half of one and no error goes unnoticed. Commands and
// runs as ptxas read and write through here:
//   write_file_atomically(path, text) // or .error()

#include "grammar/namespaces.h"

#include <optional>
#include <string>
#include <string_view>
#include <tl/expected.hpp>

namespace ptxasw::wrapper {

/// The bytes of a regular file; nothing for anything else (a pipe could only be read once, and
/// the real tool wants to read it too) or if it cannot be read.
std::optional<std::string> read_regular_file(const std::string &path);

/// The same, but nothing for a symbolic link, a file of another user or one of more than 1 GB.
std::optional<std::string> read_own_file(const std::string &path);

/// The whole input of a command: a file of any kind, also a pipe; "-" is standard input. Errors:
/// what failed, with the system's reason.
tl::expected<std::string, std::string> read_input(const std::string &path);

/// Everything from a descriptor's current position to its end. A regular file's position stays
/// where it was. Nothing on a read error.
std::optional<std::string> read_descriptor(int descriptor);

/// Writes all bytes; false on any error, with errno set.
bool write_all(int descriptor, std::string_view bytes);

/// Removes a directory and all in it, although others may write into it meanwhile.
void remove_directory(const std::string &path);

/// A message on standard error. Whoever closed it, or filled the disk behind it, misses the message
/// and nothing else.
void tell_user(std::string_view message);

/// Opens /dev/null in place of standard descriptors that the caller closed, so that no file of ours
/// gets their numbers; a program that we become finds them closed again.
void occupy_standard_descriptors();

/// Replaces a file so that half of it is never seen: a temporary file in the same directory, then a
/// rename. A symbolic link stays a link and its target is replaced; an existing file keeps its
/// mode, a new one follows the umask. Pipes and devices are written directly; "-" is stdout.
/// Errors: what failed, with the system's reason.
tl::expected<void, std::string> write_file_atomically(const std::string &path,
                                                      std::string_view bytes);

/// Replaces a file of a directory that is open (or AT_FDCWD), for its owner alone: a new temporary
/// file beside it, then a rename. No symbolic link is followed. False on any error: the directory
/// is gone, say.
bool replace_file_at(int directory, const std::string &name, std::string_view bytes);

/// A file without a name, holding these bytes, positioned at its start; -1 if none is available. It
/// vanishes with the last process that has it open, however that process ends.
int make_memory_file(const char *label, std::string_view bytes);

} // namespace ptxasw::wrapper
