#pragma once

#include "emulator/machine/tensor_map.h"
#include "emulator/machine/warp_launch.h"

#include <memory>
#include <string>
#include <vector>

namespace ptxasw::conformance {

using Bytes = std::vector<std::uint8_t>;

/// What a kernel is given for one parameter.
struct Argument {
  enum class Kind : std::uint8_t {
    in,    ///< the address of a buffer with these contents
    out,   ///< the same, and what it holds afterwards is the kernel's result
    value, ///< the bytes themselves
    map,   ///< a tensor map of another argument's buffer, which stands in `map.address`
  };
  Kind kind = Kind::value;
  std::shared_ptr<const Bytes> contents; ///< not of a map
  TensorMap map = {};
};

/// One launch of one kernel of a module.
struct Launch {
  std::string kernel;
  Extents grid;
  Extents block;
  std::vector<Argument> arguments;
};

/// Bytes of all `out` arguments together.
std::size_t result_bytes(const Launch &launch);

/// What a launch left in its `out` buffers, one after the other, or why it could not be run.
struct Emulated {
  Bytes bytes;
  std::string fault;
};
Emulated emulate(const WarpProgram &program, const Launch &launch);

/// The launches of one module as the runner reads them, one per line:
///
///   KERNEL GX GY GZ BX BY BZ ARGUMENT...
///
/// with arguments `in:OFFSET:SIZE` and `out:OFFSET:SIZE`, places in a file of contents,
/// `value:HEX`, bytes in the order of memory, and `map:NUMBER:...`, numbers as the driver takes
/// them: the argument with the tensor, element, rank, swizzle, fill, then for each axis extent,
/// stride, box and step.
std::string manifest(const std::vector<Launch> &launches, class Contents &contents);

/// A file of contents: equal ones are stored once.
class Contents {
public:
  std::size_t place(const std::shared_ptr<const Bytes> &bytes);
  const Bytes &bytes() const { return bytes_; }

private:
  std::vector<std::pair<std::shared_ptr<const Bytes>, std::size_t>> placed_;
  std::unordered_map<std::uint64_t, std::vector<std::size_t>> by_hash_;
  Bytes bytes_;
};

/// A hash of bytes, the same on every machine.
std::uint64_t fingerprint(const void *data, std::size_t size, std::uint64_t seed = 0);

} // namespace ptxasw::conformance
