#pragma once

// A program that nobody has prepared for versions: the kernels that nvcc would make of its source,
// the images that hold their PTX, and launches of them.

#include "tests/launch/host.h"

#include <array>
#include <cstdint>
#include <string>

namespace host {

/// What nvcc makes of `to[i] = from[i] + 1`, of the same with a `__device__` variable, and with a
/// `__constant__` one.
std::string kernel_text(const std::string &name, const std::string &load);

/// A module with such kernels: `add`, and others by what they read.
std::string ptx();

/// A fat binary with PTX for one architecture and, if it is asked for, machine code for another;
/// `twice`: the same PTX for sm_90a, say, as well. `options`: what it was compiled with.
class FatBinary {
public:
  FatBinary(const std::string &text, unsigned ptx_sm, unsigned code_sm = 0, bool twice = false,
            const std::string &code = "", const std::string &options = "");
  const void *data() const { return bytes_.data(); }
  const std::string &bytes() const { return bytes_; }
  const void *wrapper() const { return &wrapper_; }
  /// From now on the wrapper is that of what a device linker has linked.
  void link() {
    wrapper_.version = 2;
    wrapper_.list = linked_.data();
  }

private:
  void add(std::uint16_t kind, std::uint32_t sm, const std::string &text, std::uint64_t flags = 0);

  struct Wrapper {
    std::uint32_t magic, version;
    const void *data;
    const void *list;
  };
  std::string options_, bytes_;
  std::array<const void *, 1> linked_{};
  Wrapper wrapper_{};
};

/// A module, by a function of the driver's, and a library.
Handle load_by(const char *hook, const void *image);
Handle library_of(const void *image);

/// Memory of the fake's: n numbers.
std::uint64_t memory(unsigned n);

constexpr unsigned elements = 64 * 256;

/// Launches of one kernel on memory of their own, in 64 blocks; each result is looked at.
class Launches {
public:
  /// `n`: of elements, as the kernel is told; 0: as many as threads.
  explicit Launches(Handle function, unsigned block = 256, unsigned n = 0)
      : function_(function), to_(memory(elements)), from_(memory(elements)), block_(block),
        n_(n == 0 ? 64 * block : n) {}

  void once(Handle stream = nullptr);
  void once_with_a_buffer();
  /// Waits for a version to be launched; the line of history, or nothing after five minutes.
  std::string until_a_version_runs();
  /// So many launches; how many of them were versions.
  int versions_of(int launches);

private:
  Handle function_;
  std::uint64_t to_, from_;
  unsigned block_, n_;
};

/// Waits until versions of a kernel run, and then for them to win.
void expect_faster(Handle f);

} // namespace host
