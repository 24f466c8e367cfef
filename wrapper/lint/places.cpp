// The last `.loc` before an instruction counts, as debuggers have it; files are those of the
// module's `.file` lines.

#include "wrapper/lint/places.h"

#include <algorithm>
#include <fmt/core.h>
#include <unistd.h>

namespace ptxasw::wrapper {

bool is_toolkits(const std::string &file) {
  constexpr std::string_view headers = "/include/";
  const std::size_t at = file.rfind(headers);
  return at != file.npos &&
         (file.starts_with("/usr/local/cuda") || file.starts_with("/usr/include/") ||
          file.starts_with("/usr/lib/") || file.find("/targets/") != file.npos ||
          ::access((file.substr(0, at + headers.size()) + "cuda_runtime.h").c_str(), F_OK) == 0);
}

std::string to_string(const Place &place) {
  return place.column ? fmt::format("{}:{}:{}", place.file, place.line, place.column)
                      : fmt::format("{}:{}", place.file, place.line);
}

Place Places::place(const Location &location) const {
  const auto file = module_.files.find(location.file);
  return {file == module_.files.end() ? fmt::format("file {}", location.file)
                                      : std::string(file->second),
          location.line, location.column};
}

std::vector<Place> Places::frames(const Instruction &instruction) const {
  std::vector<Place> frames;
  if (instruction.location == no_index)
    return frames;
  std::vector<Location> chain = inlining_.chain(instruction.location);
  chain.insert(chain.begin(), module_.locations[instruction.location]);
  for (const Location &location : chain)
    if (location.line != 0) // or what it was inlined into may be a line
      frames.push_back(place(location));
  const auto own = std::find_if_not(frames.begin(), frames.end(),
                                    [](const Place &one) { return is_toolkits(one.file); });
  if (own != frames.end())
    frames.erase(frames.begin(), own);
  return frames;
}

std::optional<Place> Places::of(const Instruction &instruction) const {
  const std::vector<Place> frames = this->frames(instruction);
  return frames.empty() ? std::nullopt : std::optional(frames.front());
}

std::optional<Place> Places::near(const Function &function, std::uint32_t line) const {
  std::optional<Place> last;
  for (const Instruction &instruction : function.instructions) {
    if (instruction.line > line)
      break;
    if (auto place = of(instruction))
      last = std::move(place);
  }
  return last;
}

std::vector<Place> Places::inlined_at(const Instruction &instruction) const {
  std::vector<Place> result = frames(instruction);
  if (!result.empty())
    result.erase(result.begin());
  return result;
}

} // namespace ptxasw::wrapper
