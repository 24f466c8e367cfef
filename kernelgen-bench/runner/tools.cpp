#include "runner/tools.h"

#include <algorithm>

namespace kernelgen {

Tools::Tools(Driver &driver, const std::string &image) : driver_(driver) {
  const Handle module = driver.load(image);
  fill_ = driver.function(module, "tool_fill");
  compare_ = driver.function(module, "tool_compare");
  copy_ = driver.function(module, "tool_copy");
  different_ = driver.allocate(sizeof(std::uint64_t));
}

void Tools::run(Handle function, std::vector<void *> arguments) {
  Launch launch;
  launch.block[0] = 256;
  launch.grid[0] = static_cast<unsigned>(driver_.facts().multiprocessors * 8);
  driver_.launch(function, launch, arguments);
}

void Tools::fill(DevicePointer values, std::size_t count, Fill fill, std::uint32_t seed) {
  std::uint64_t n = count;
  auto number = static_cast<std::int32_t>(fill);
  run(fill_, {&values, &n, &number, &seed});
}

std::uint64_t Tools::compare(DevicePointer a, DevicePointer b, std::size_t count) {
  std::uint64_t n = count, different = 0;
  driver_.copy_to_device(different_, &different, sizeof different);
  run(compare_, {&a, &b, &n, &different_});
  driver_.copy_to_host(&different, different_, sizeof different);
  return different;
}

double Tools::copy_bandwidth(std::size_t bytes) {
  DevicePointer from = driver_.allocate(bytes), to = driver_.allocate(bytes);
  fill(from, bytes / sizeof(float), Fill::uniform, 1);
  std::uint64_t n = bytes / 16;
  const Handle start = driver_.create_event(), end = driver_.create_event();
  double best = 0;
  for (int round = 0; round < 16; round++) {
    driver_.record(start);
    if (round % 2)
      driver_.copy_on_device(to, from, bytes);
    else
      run(copy_, {&from, &to, &n});
    driver_.record(end);
    const double milliseconds = driver_.elapsed(start, end);
    if (milliseconds > 0)
      best = std::max(best, 2.0 * static_cast<double>(bytes) / milliseconds * 1e-6);
  }
  driver_.release(from);
  driver_.release(to);
  return best;
}

} // namespace kernelgen
