// What the launch helper and `ptxasw faster` read and others may have written: answers as they are
// and with a checksum that is right, tables of versions, profiles, questions, images and how often
// a kernel is launched, and PTX of machine code. What is read must be written again as bytes that
// read the same.

#include "wrapper/faster/make.h"
#include "wrapper/launch/answer.h"
#include "wrapper/launch/profile.h"

#include <cstdint>
#include <cstdlib>
#include <cstring>

namespace launch = ptxasw::wrapper::launch;

namespace {

void expect(bool right) {
  if (!right)
    std::abort();
}

void read_answer(const std::string &bytes) {
  const auto answer = launch::decode_answer(bytes);
  if (!answer)
    return;
  const auto again = launch::decode_answer(encode(*answer));
  expect(again && again->reason == answer->reason && again->table == answer->table &&
         again->variables == answer->variables && again->image == answer->image);
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size) {
  const std::string bytes(reinterpret_cast<const char *>(data), size);
  read_answer(bytes);
  const std::string sum = launch::long_hash(bytes);
  const std::uint64_t length = sum.size();
  std::string summed = bytes;
  summed.append(reinterpret_cast<const char *>(&length), sizeof length);
  read_answer(summed + sum);
  if (const auto table = ptxasw::synth::decode(bytes)) {
    const auto again = ptxasw::synth::decode(encode(*table));
    expect(again && *again == *table);
  }
  if (const auto profile = launch::parse_profile(bytes, "profile"))
    expect(launch::parse_profile(to_toml(*profile), "again").has_value());
  (void)launch::decode_compiled(bytes);
  expect(launch::decode_compiled(launch::encode_compiled(bytes)) == bytes);
  (void)launch::size_in_compiled_name(bytes);
  expect(launch::size_in_compiled_name(launch::compiled_name(bytes)) == size);
  (void)ptxasw::wrapper::faster::parse_question(bytes, "id");
  (void)ptxasw::wrapper::faster::kernels_of(bytes, 90);
  expect(launch::parse_often(bytes).each_us >= 0);
  return 0;
}
