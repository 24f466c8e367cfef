#pragma once

// What `ptxasw faster` answers when the helper asks for versions of a kernel: a module that is
// loaded beside the program's own, or why there is none. The same bytes are kept in the cache. This
// file and answer.cpp know neither CUDA nor the command line.

#include "grammar/sibling_table.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <utility>
#include <vector>

namespace ptxasw::wrapper::launch {

/// A `.global` variable of the program's module.
struct AnswerVariable {
  std::string name;
  std::uint64_t bytes = 0; ///< its size
  bool operator==(const AnswerVariable &) const = default;
};

/// How much a kernel and its versions compute, by their texts.
struct AnswerWork {
  /// Cycles of a multiprocessor's pipes for each byte that is moved to or from global memory; 0:
  /// not known.
  double cycles_per_byte = 0;
  /// Of versions, by name, how many times as much a thread computes as the threads of the kernel
  /// whose work it does. Of those that are not named it is as much, as far as is known.
  std::vector<std::pair<std::string, double>> times = {};
};

struct Answer {
  std::string reason; ///< the name of why there are no versions; empty: there are
  std::string words;  ///< the same, for people; or why all versions are the kernel's own code
  /// The kernel's own parameters, and behind them the addresses of `variables`, 64 bits each.
  SiblingTable table;
  std::vector<AnswerVariable> variables;
  std::string image; ///< machine code with the versions of the table
  AnswerWork work;
  std::string choices; ///< a profile: what was measured before; may be empty
};

/// The answer's bytes. They end with a checksum of all others.
std::string encode(const Answer &answer);

/// Reads what encode() wrote. Error: bytes are missing or have changed, or another version of
/// ptxasw wrote them; says which.
tl::expected<Answer, std::string> decode_answer(std::string_view bytes);

/// A question about a kernel of an image that is kept, for a GPU of compute capability `sm`: its
/// name, and the text of its file. `image`: the long_hash() of what is kept, whose file it names.
std::string question_id(std::string_view image, unsigned sm, std::string_view kernel);
std::string question_text(std::string_view image, unsigned sm, std::string_view kernel);

/// How much a kernel has been launched: for the file with which the helper says of a question that
/// it is launched often.
struct HowOften {
  std::uint64_t launches = 0;
  double each_us = 0; ///< what a launch takes; 0: not known
};
std::string often_text(const HowOften &often);
/// Reads that; what is not understood is not known.
HowOften parse_often(const std::string &text);
inline constexpr char often_suffix[] = ".often"; ///< of that file, behind the question's id

/// The ending of a file with which the helper says what a process is: the compute capability of
/// its GPU and, on the next line, the path of its program.
inline constexpr char program_suffix[] = ".program";

/// How the file `remembered` of a run names a kernel of which there are versions, for a GPU of
/// compute capability `sm`.
std::string remembered_name(std::string_view kernel, unsigned sm);

/// How files name machine code whose PTX they hold: by its hash and its size. What ends the name.
std::string compiled_name(std::string_view code);
inline constexpr char compiled_suffix[] = ".compiled";
/// The size that such a name says; nothing if it is none.
std::optional<std::uint64_t> size_in_compiled_name(std::string_view name);

/// The bytes of such a file: a checksum of the PTX, and the PTX.
std::string encode_compiled(std::string_view ptx);
/// Reads what encode_compiled() wrote: the PTX, within the bytes. Nothing if they are damaged, or
/// more than 16 MB.
std::optional<std::string_view> decode_compiled(std::string_view bytes);

/// Two hashes of 64 bits (FNV-1a from different starts), as 32 digits: tells texts apart by
/// accident, not against an adversary.
std::string long_hash(std::string_view text);

} // namespace ptxasw::wrapper::launch
