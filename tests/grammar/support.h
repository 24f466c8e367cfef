#pragma once

#include "grammar/module.h"

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace ptxasw::test {

/// A module around the body of one kernel that declares, for every scalar type, two registers named
/// after it (`f32a`, `f32b`), `p q r s` of .pred, the vector register `v` (.v4 .f32), and has the
/// parameters `in` and `%out`.
std::string in_kernel(std::string_view body);

/// Parses; an error fails the running test with its text.
std::unique_ptr<Module> parse_good(std::string text);

/// The formatted diagnostic of a text that must not parse; empty if it does.
std::string parse_bad(std::string text);

/// Operands as the module has them: `@!p:pred f32a:f32 [u64a:u64+4]`; "opaque" in front if the
/// instruction is not well-formed.
std::string describe(const Module &module, const Function &function, const Instruction &);

/// The operands of the only instruction in `body`.
std::string describe_in_kernel(std::string_view body);

std::string read_file(const std::filesystem::path &path);

/// Every .ptx under a directory of the source tree, sorted.
std::vector<std::filesystem::path> ptx_files(std::string_view directory);

} // namespace ptxasw::test
