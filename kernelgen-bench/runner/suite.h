#pragma once

#include "runner/values.h"

#include <array>
#include <cstddef>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace kernelgen {

/// Extents nx, ny, nz of a run; unused ones are 1.
using Extents = std::array<int, 3>;

/// One parameter of a kernel, in the order of its signature.
struct Argument {
  enum class Kind { extent, scalar, plan, stride, buffer };
  enum class Use { in, out, inout };

  Kind kind = Kind::extent;
  std::string name;
  int axis = 0;      ///< extent: 0, 1, 2 for nx, ny, nz; stride: of the launched grid
  float value = 0;   ///< scalar
  Use use = Use::in; ///< buffer
  Fill fill = Fill::uniform;
  std::string count; ///< buffer: a product such as "2*nx*ny"; empty for the whole grid
};

/// One way to compile the kernels.
struct Variant {
  std::string name;
  bool valid = true; ///< computes the same bits as the original
};

/// One kernel of the manifest.
struct Kernel {
  std::string name, entry, group;
  std::string reference; ///< name of its host reference
  std::vector<Argument> arguments;
  std::vector<int> grid_axes;           ///< axes that threads are spread over, innermost first
  Extents rim{};                        ///< points of an axis without a thread, both ends together
  std::map<std::string, Extents> sizes; ///< by name of size
  int dimensions = 0;
  double tolerance = 1e-5;                   ///< against the reference
  std::map<std::string, std::string> images; ///< variant -> file beside the manifest
  /// The same assembled without contraction of multiplications and additions, for the comparison
  /// bit for bit; valid variants only.
  std::map<std::string, std::string> exact_images;
};

/// Everything that one archive runs.
struct Suite {
  std::filesystem::path folder; ///< where the images lie
  std::string target;           ///< "sm_90"
  std::string tools;            ///< image of tools.cu
  std::vector<Variant> variants;
  std::vector<std::array<unsigned, 2>> blocks;
  std::vector<Kernel> kernels;
  std::string static_facts; ///< JSON that the build wrote for the report, passed through
};

/// Reads a manifest written by kernelgen-bench/run; throws std::runtime_error on a malformed one.
Suite read_suite(const std::filesystem::path &manifest);

/// Number of values of a buffer argument at the given extents.
std::size_t count_values(const Argument &argument, const Extents &extents);

/// The extents of a named size ("paper") or of a literal one ("4096x4096"); throws
/// std::runtime_error if the kernel has no such size.
Extents find_size(const Kernel &kernel, const std::string &size);

/// The bytes of a file; throws std::runtime_error if it cannot be read.
std::string read_file(const std::filesystem::path &path);

} // namespace kernelgen
