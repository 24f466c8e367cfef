#pragma once

#include <map>
#include <stdexcept>
#include <string>
#include <vector>

namespace kernelgen {

/// One buffer of a problem, addressed as the kernels do: `i` is the contiguous index.
class Field {
public:
  /// `values` holds rows of `nx`, planes of `nx * ny` values.
  Field(std::vector<double> &values, int nx, int ny) : values_(&values), nx_(nx), ny_(ny) {}

  /// The value at a point; throws std::out_of_range outside the buffer.
  double &operator()(int i, int j = 0, int k = 0) const {
    const long index = (static_cast<long>(k + first_) * ny_ + j) * nx_ + i;
    if (i < 0 || j < 0 || k < 0)
      throw std::out_of_range("reference reads a negative index");
    return values_->at(static_cast<std::size_t>(index));
  }

  /// The same buffer from that plane on.
  Field plane(int first) const {
    Field result = *this;
    result.first_ += first;
    return result;
  }

private:
  std::vector<double> *values_;
  int nx_, ny_, first_ = 0;
};

/// Sizes, scalars and buffers of one run of a kernel, by the names that kernels.toml gives them.
struct Problem {
  int nx = 1, ny = 1, nz = 1;
  std::map<std::string, double> scalars;
  std::map<std::string, std::vector<double>> buffers;

  /// A scalar argument; throws std::out_of_range if the kernel has none of that name.
  double operator[](const std::string &name) const { return scalars.at(name); }

  /// The scalar argument `prefix` with a number behind it, as in "s4".
  double operator()(std::string prefix, int number) const {
    return scalars.at(prefix.append(std::to_string(number)));
  }

  /// A buffer argument in rows of nx and planes of ny rows.
  Field field(const std::string &name) { return {buffers.at(name), nx, ny}; }

  /// A buffer argument with extents of its own.
  Field field(const std::string &name, int width, int height = 1) {
    return {buffers.at(name), width, height};
  }

  /// Calls visit(i, j, k) for every point that is the given number of points away from the ends.
  template <class Visit>
  void interior(int halo_x, int halo_y, int halo_z, const Visit &visit) const {
    for (int k = halo_z; k < nz - halo_z; k++)
      for (int j = halo_y; j < ny - halo_y; j++)
        for (int i = halo_x; i < nx - halo_x; i++)
          visit(i, j, k);
  }
};

/// Computes a kernel in double precision on the host, in place in the problem's buffers.
using Reference = void (*)(Problem &);

/// All references by kernel name.
inline std::map<std::string, Reference> &references() {
  static std::map<std::string, Reference> table;
  return table;
}

/// Enters a reference into the table: `static const Registered entry("jacobi", jacobi);`.
struct Registered {
  Registered(const char *name, Reference reference) { references()[name] = reference; }
};

} // namespace kernelgen
