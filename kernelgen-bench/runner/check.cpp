#include "runner/check.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace kernelgen {
namespace {

/// The same problem on the host, drawn from the same hash.
Problem host_problem(const Kernel &kernel, const Extents &extents) {
  Problem problem;
  problem.nx = extents[0];
  problem.ny = extents[1];
  problem.nz = extents[2];
  for (std::size_t n = 0; n < kernel.arguments.size(); n++) {
    const Argument &argument = kernel.arguments[n];
    if (argument.kind == Argument::Kind::scalar)
      problem.scalars[argument.name] = argument.value;
    if (argument.kind != Argument::Kind::buffer)
      continue;
    const Fill fill = argument.use == Argument::Use::out ? Fill::poison : argument.fill;
    std::vector<double> &values = problem.buffers[argument.name];
    values.resize(count_values(argument, extents));
    for (std::size_t index = 0; index < values.size(); index++)
      values[index] = draw(fill, seed_of(n), index);
  }
  return problem;
}

} // namespace

Expected::Expected(const Kernel &kernel, const Extents &extents)
    : kernel_(kernel), extents_(extents) {
  const auto reference = references().find(kernel.reference);
  if (reference == references().end())
    throw std::runtime_error(kernel.name + " has no host reference");
  problem_ = host_problem(kernel, extents);
  reference->second(problem_);
}

double Expected::error(Driver &driver, Tools &tools, Handle function, const Launch &launch) const {
  Workload workload(driver, tools, kernel_, extents_);
  workload.launch(function, launch);
  driver.synchronize();

  double largest = 0, error = 0;
  for (std::size_t n = 0; n < kernel_.arguments.size(); n++) {
    const Argument &argument = kernel_.arguments[n];
    if (argument.kind != Argument::Kind::buffer || argument.use == Argument::Use::in)
      continue;
    std::vector<float> result(workload.values(n));
    driver.copy_to_host(result.data(), workload.buffer(n), result.size() * sizeof(float));
    const std::vector<double> &expected = problem_.buffers.at(argument.name);
    for (std::size_t index = 0; index < result.size(); index++) {
      if (std::isnan(expected[index]) != std::isnan(result[index]))
        return std::numeric_limits<double>::infinity();
      if (std::isnan(expected[index]))
        continue;
      largest = std::max(largest, std::abs(expected[index]));
      error = std::max(error, std::abs(expected[index] - static_cast<double>(result[index])));
    }
  }
  return largest > 0 ? error / largest : error;
}

} // namespace kernelgen
