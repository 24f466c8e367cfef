// conformance_runner CONTENTS RESULTS CUBIN MANIFEST
//
// Launches what a manifest lists (launch.h says how) on the GPU and writes, a launch, one byte (1:
// it ran, 0: the image does not have the kernel) and what the launch left in its `out` buffers.
// Needs the CUDA driver and nothing else.

#include "runner/driver.h"

#include <cstdio>
#include <dlfcn.h>
#include <fstream>
#include <iterator>
#include <map>
#include <sstream>

using namespace kernelgen;

namespace {

std::string read_file(const char *path) {
  std::ifstream file(path, std::ios::binary);
  if (!file)
    throw std::runtime_error(std::string("cannot read ") + path);
  return {std::istreambuf_iterator<char>(file), {}};
}

struct Buffer {
  DevicePointer address = 0;
  std::size_t size = 0;
  bool is_result = false;
};

class Runner {
public:
  Runner(Driver &driver, const std::string &contents) : driver_(driver), contents_(contents) {}

  void run(Handle module, const std::string &line, std::ostream &results) {
    std::istringstream words(line);
    std::string name, word;
    Launch launch;
    words >> name;
    for (unsigned *sizes : {launch.grid, launch.block})
      words >> sizes[0] >> sizes[1] >> sizes[2];
    Handle function;
    try {
      function = driver_.function(module, name);
    } catch (const DriverError &) {
      results.put(0);
      return;
    }
    std::vector<Buffer> buffers;
    std::vector<std::string> values;
    while (words >> word)
      argument(word, buffers, values);
    std::vector<void *> arguments;
    for (std::size_t i = 0; i < buffers.size(); ++i)
      if (values[i].starts_with("map:") && !make_map(values[i], buffers))
        return void(results.put(0));
    for (std::size_t i = 0; i < buffers.size(); ++i)
      arguments.push_back(values[i].empty() ? static_cast<void *>(&buffers[i].address)
                                            : values[i].data());
    driver_.launch(function, launch, arguments);
    driver_.synchronize();
    results.put(1);
    for (const Buffer &buffer : buffers) {
      if (!buffer.is_result)
        continue;
      std::string bytes(buffer.size, 0);
      driver_.copy_to_host(bytes.data(), buffer.address, buffer.size);
      results.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
      driver_.release(buffer.address);
    }
  }

private:
  /// Replaces the text of a tensor map by what the driver makes of it; false: it refuses.
  bool make_map(std::string &text, const std::vector<Buffer> &buffers) {
    std::vector<std::uint64_t> n;
    std::istringstream words(text.substr(4));
    for (std::string word; std::getline(words, word, ':');)
      n.push_back(std::stoull(word));
    alignas(64) static std::uint64_t map[16];
    std::uint64_t extents[5], strides[5];
    std::uint32_t box[5], steps[5];
    const auto rank = static_cast<unsigned>(n.at(2));
    for (unsigned axis = 0; axis < rank; ++axis) {
      extents[axis] = n.at(5 + 4 * axis);
      strides[axis] = n.at(6 + 4 * axis);
      box[axis] = static_cast<std::uint32_t>(n.at(7 + 4 * axis));
      steps[axis] = static_cast<std::uint32_t>(n.at(8 + 4 * axis));
    }
    using Encode =
        int (*)(void *, int, std::uint32_t, void *, const std::uint64_t *, const std::uint64_t *,
                const std::uint32_t *, const std::uint32_t *, int, int, int, int);
    static const auto encode =
        reinterpret_cast<Encode>(dlsym(dlopen("libcuda.so.1", RTLD_NOW), "cuTensorMapEncodeTiled"));
    const int error =
        encode(map, static_cast<int>(n.at(1)), rank,
               reinterpret_cast<void *>(buffers.at(n.at(0)).address), extents, strides + 1, box,
               steps, 0, static_cast<int>(n.at(3)), 0, static_cast<int>(n.at(4)));
    if (error != 0)
      std::fprintf(stderr, "%s: the driver refuses it, %d\n", text.c_str(), error);
    text.assign(reinterpret_cast<const char *>(map), sizeof map);
    return error == 0;
  }

  void argument(const std::string &word, std::vector<Buffer> &buffers,
                std::vector<std::string> &values) {
    Buffer buffer;
    std::string value;
    std::size_t offset = 0;
    if (word.starts_with("map:")) {
      value = word;
    } else if (word.starts_with("value:")) {
      for (std::size_t i = 6; i + 1 < word.size(); i += 2)
        value += static_cast<char>(std::stoi(word.substr(i, 2), nullptr, 16));
    } else {
      const std::size_t colon = word.rfind(':');
      buffer.size = std::stoul(word.substr(colon + 1));
      offset = std::stoul(word.substr(word.find(':') + 1));
      buffer.is_result = word.starts_with("out:");
      // What is only read is the same for many launches.
      DevicePointer &shared = inputs_[{offset, buffer.size}];
      if (buffer.is_result || shared == 0) {
        buffer.address = driver_.allocate(buffer.size);
        driver_.copy_to_device(buffer.address, contents_.data() + offset, buffer.size);
        if (!buffer.is_result)
          shared = buffer.address;
      } else {
        buffer.address = shared;
      }
    }
    buffers.push_back(buffer);
    values.push_back(value);
  }

  Driver &driver_;
  const std::string &contents_;
  std::map<std::pair<std::size_t, std::size_t>, DevicePointer> inputs_;
};

} // namespace

int main(int argc, char **argv) {
  if (argc != 5) {
    std::fprintf(stderr, "usage: conformance_runner CONTENTS RESULTS CUBIN MANIFEST\n");
    return 2;
  }
  std::string line;
  try {
    Driver driver(0);
    const std::string contents = read_file(argv[1]);
    std::ofstream results(argv[2], std::ios::binary);
    Runner runner(driver, contents);
    const Handle module = driver.load(read_file(argv[3]));
    std::ifstream manifest(argv[4]);
    unsigned launches = 0;
    for (; std::getline(manifest, line); ++launches)
      runner.run(module, line, results);
    if (!results.flush())
      throw std::runtime_error("cannot write the results");
    std::printf("%s: %u launches on %s\n", argv[4], launches, driver.facts().name.c_str());
  } catch (const NoDevice &error) {
    std::fprintf(stderr, "conformance_runner: %s\n", error.what());
    return 3;
  } catch (const std::exception &error) {
    std::fprintf(stderr, "conformance_runner: %s\n  at: %s\n", error.what(), line.c_str());
    return 1;
  }
  return 0;
}
