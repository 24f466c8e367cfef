// outputs COMMAND... -- FILE...: what ptxasw answers to each command ("explain --json") for each
// file, as a line with the exit code and a number made of what it prints. Of a command that
// rewrites, all bytes count; of others the words, in any order: that of factors and summands in
// what is told to people follows the order in which a compiler evaluates arguments, and the two
// trees have different compilers. Everything runs in this one process, so thousands of answers cost
// what the work costs; a tree with sanitizers and one without must print the same.
#include "wrapper/commands/cli.h"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <fmt/core.h>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <sys/mman.h>
#include <unistd.h>
#include <vector>

namespace {

/// Standard output and error of this process, for as long as it lives in a file without a name.
class Captured {
public:
  Captured() : file_(memfd_create("output", 0)) {
    if (file_ < 0)
      throw std::runtime_error("no memory for what is printed");
    for (int stream : {1, 2}) {
      kept_[stream - 1] = dup(stream);
      dup2(file_, stream);
    }
  }
  ~Captured() {
    restore();
    close(file_);
  }
  Captured(const Captured &) = delete;
  Captured &operator=(const Captured &) = delete;

  /// What was printed since; printing goes on where it went before.
  std::string text() {
    restore();
    std::string all(static_cast<std::size_t>(lseek(file_, 0, SEEK_END)), '\0');
    if (pread(file_, all.data(), all.size(), 0) != static_cast<ssize_t>(all.size()))
      throw std::runtime_error("what was printed cannot be read");
    return all;
  }

private:
  void restore() {
    std::fflush(nullptr);
    for (int stream : {1, 2})
      if (int &kept = kept_[stream - 1]; kept >= 0) {
        dup2(kept, stream);
        close(kept);
        kept = -1;
      }
  }

  int file_;
  int kept_[2] = {-1, -1};
};

/// FNV-1a: enough to tell two texts apart that differ by accident.
std::uint64_t number_of(std::string_view text) {
  std::uint64_t number = 0xcbf29ce484222325;
  for (unsigned char byte : text)
    number = (number ^ byte) * 0x100000001b3;
  return number;
}

/// The same for its words, in whatever order they stand.
std::uint64_t number_of_words(std::string_view text) {
  std::uint64_t sum = 0;
  while (!text.empty()) {
    const std::size_t length = std::min(text.find_first_of(" \n()\","), text.size());
    sum += number_of(text.substr(0, length));
    text.remove_prefix(std::min(length + 1, text.size()));
  }
  return sum;
}

std::vector<std::string> split(const std::string &command) {
  std::istringstream text(command);
  std::vector<std::string> words;
  for (std::string word; text >> word;)
    words.push_back(word);
  return words;
}

} // namespace

int main(int argc, char **argv) {
  std::vector<std::string> commands, files;
  bool behind = false;
  for (int i = 1; i < argc; ++i)
    if (!behind && std::string_view(argv[i]) == "--")
      behind = true;
    else
      (behind ? files : commands).push_back(argv[i]);
  if (commands.empty() || files.empty()) {
    std::fputs("usage: outputs COMMAND... -- FILE...\n", stderr);
    return 2;
  }
  for (const std::string &file : files)
    for (const std::string &command : commands) {
      std::vector<std::string> words = split(command);
      words.push_back(file);
      Captured captured;
      const int code = ptxasw::wrapper::command_line_interface(words);
      const std::string text = captured.text();
      const auto number = words.front() == "rewrite" ? number_of(text) : number_of_words(text);
      fmt::print("{} {:3} {:016x} {}\n", file, code, number, command);
      std::fflush(stdout); // if the next one ends this process, it is known which
    }
}
