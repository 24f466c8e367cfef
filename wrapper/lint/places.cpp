// The last `.loc` before an instruction counts, as debuggers have it; files are those of the
// module's `.file` lines.

#include "wrapper/lint/places.h"

#include <fmt/core.h>

namespace ptxasw::inline wrapper {

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

std::optional<Place> Places::of(const Instruction &instruction) const {
  if (instruction.location == no_index)
    return std::nullopt;
  if (const Location &own = module_.locations[instruction.location]; own.line != 0)
    return place(own);
  // Line 0: the compiler made it up. What it was inlined into may still be a line.
  for (const Location &location : inlining_.chain(instruction.location))
    if (location.line != 0)
      return place(location);
  return std::nullopt;
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
  std::vector<Place> result;
  for (const Location &location : inlining_.chain(instruction.location))
    result.push_back(place(location));
  return result;
}

} // namespace ptxasw::wrapper
