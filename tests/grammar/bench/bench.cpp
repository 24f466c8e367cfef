// bench-grammar FILE...: parse + print speed and peak memory over the text's size, one line per
// file. bench-grammar --generate MEGABYTES: the same on a generated module of that size.

#include "grammar/edits.h"
#include "grammar/module.h"

#include <fmt/core.h>

#include <chrono>
#include <fstream>
#include <sstream>
#include <string>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace {

std::string read_file(const char *path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

std::string generate(std::size_t bytes) {
  std::string text = ".version 8.8\n.target sm_90a\n.address_size 64\n";
  text.reserve(bytes + 1000);
  for (int kernel = 0; text.size() < bytes; ++kernel) {
    text += fmt::format(".visible .entry kernel_{}(\n\t.param .u64 kernel_{}_param_0\n)\n{{\n"
                        "\t.reg .pred \t%p<200>;\n\t.reg .f32 \t%f<2000>;\n"
                        "\t.reg .b64 \t%rd<2000>;\n",
                        kernel, kernel);
    for (int i = 1; i < 1000; ++i)
      text += fmt::format("$L__BB{0}_{1}:\n\tld.global.f32 \t%f{1}, [%rd{1}+{2}];\n"
                          "\tfma.rn.f32 \t%f{3}, %f{1}, 0f3F800000, %f{1};\n"
                          "\t@%p{4} bra \t$L__BB{0}_{1};\n",
                          kernel, i, i * 4, i + 1000, i % 200);
    text += "\tret;\n}\n";
  }
  return text;
}

long peak_kilobytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss;
}

/// `before`: the peak before there was a text.
int measure(const std::string &name, std::string text, long before) {
  const double size = static_cast<double>(text.size());
  const auto start = std::chrono::steady_clock::now();
  const auto module = ptxasw::ptx::parse(std::move(text), name);
  if (!module) {
    fmt::print("{}", format(module.error()));
    return 1;
  }
  const std::string printed = ptxasw::ptx::Edits().apply((*module)->text()).value_or("");
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  const double grown = static_cast<double>(peak_kilobytes() - before) * 1024;
  std::size_t instructions = 0;
  for (const auto &function : (*module)->functions)
    instructions += function.instructions.size();
  fmt::print("{:8.2f} MB  {:8} instructions  {:8.1f} ms  {:6.1f} MB/s  {:5.1f} x the text  {}\n",
             size / 1e6, instructions, seconds.count() * 1e3, size / 1e6 / seconds.count(),
             grown / size, name);
  return printed == (*module)->text() ? 0 : 1;
}

} // namespace

int main(int argc, char **argv) {
  // One process per measurement: peak memory never goes down.
  int failures = 0;
  for (int i = 1; i < argc; ++i) {
    const bool generated = std::string_view(argv[i]) == "--generate" && i + 1 < argc;
    i += generated;
    if (const pid_t child = fork(); child == 0) {
      const long before = peak_kilobytes();
      const int result = generated ? measure(fmt::format("generated, {} MB", argv[i]),
                                             generate(std::stoul(argv[i]) * 1000000), before)
                                   : measure(argv[i], read_file(argv[i]), before);
      std::fflush(stdout);
      _exit(result);
    } else {
      int status = 0;
      waitpid(child, &status, 0);
      failures += status != 0;
    }
  }
  return failures != 0;
}
