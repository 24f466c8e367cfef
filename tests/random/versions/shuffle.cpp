// random_shuffle [--kernels N] [--seed S] [-v]
//
// The kernels of random_kernels, which loads of neighbours are made for, with versions beside them
// in which loads are values of other lanes or of the thread itself. Half of them load from shared
// memory, between stores and barriers. Each version must compute the same on the warp emulator.
// Exit code 1: one is wrong; it is printed.

#include "tests/random/random_kernel.h"
#include "tests/random/versions.h"

using namespace ptxasw::test;

namespace {

std::string shuffle_kernel(std::uint64_t seed) {
  const test::RandomKernel kernel = test::random_kernel(seed, seed % 2 == 1);
  std::string text = test::module_text(*kernel.body);
  const std::string_view name = "random_kernel(";
  return text.replace(text.find(name), name.size(), "k(");
}

const RandomProgram shuffle_program("shuffle", [](int argc, char **argv) {
  return random_versions(argc, argv, {"shuffle", "shuffled", {45, 85, 70, 1}}, shuffle_kernel);
});

} // namespace
