// A number for a byte of an array has as many bytes as are read there, or four if nothing is.

#include "analysis/prove/given_parameters.h"

#include "emulator/facts/reading.h"
#include "emulator/machine/launch_model.h"
#include "emulator/semantics/parameter_layout.h"

#include <algorithm>
#include <charconv>
#include <fmt/core.h>

namespace ptxasw::analysis {
namespace {

/// The byte of a parameter that a name means; nothing: it means another one.
std::optional<std::uint64_t> byte_of(const std::string &name, const Variable &parameter,
                                     const Function &kernel) {
  const std::string own = facts::parameter_name({parameter.name, 0, 0}, kernel);
  if (name == own)
    return 0;
  std::uint64_t at = 0;
  if (!name.starts_with(own + "+"))
    return std::nullopt;
  const char *const end = name.data() + name.size();
  const auto read = std::from_chars(name.data() + own.size() + 1, end, at);
  return read.ec == std::errc() && read.ptr == end ? std::optional(at) : std::nullopt;
}

} // namespace

void GivenParameters::give(const Variable &parameter, const Bytes &bytes, std::string text) {
  Bytes &known = bytes_[std::string(parameter.name)];
  known.resize(parameter.size());
  for (std::size_t at = 0; at < std::min(bytes.size(), known.size()); ++at)
    known[at] = bytes[at] ? bytes[at] : known[at];
  texts_.push_back(std::move(text));
}

void GivenParameters::give(const Module &module, const Function &kernel,
                           const std::map<std::string, std::int64_t> &numbers) {
  const std::vector<ParameterSlot> slots = parameter_slots(module, kernel);
  for (std::size_t i = 0; i < kernel.parameters.size(); ++i) {
    const Variable &parameter = kernel.parameters[i];
    const std::uint32_t begin = kernel_parameter_offset(kernel, i);
    const auto size_at = [&](std::uint64_t at) -> std::uint64_t {
      if (!parameter.is_array && at == 0)
        return parameter.size();
      const auto slot = std::find_if(slots.begin(), slots.end(), [&](const ParameterSlot &one) {
        return one.offset == begin + at;
      });
      return slot == slots.end() ? 4 : slot->width / 8;
    };
    std::map<std::uint64_t, std::pair<std::string, std::int64_t>> by_byte;
    for (const auto &[name, number] : numbers)
      if (const auto at = byte_of(name, parameter, kernel))
        by_byte[*at] = {name, number};
    for (auto one = by_byte.begin(); one != by_byte.end(); ++one) {
      const auto &[begin_at, given] = *one;
      const auto next = std::next(one);
      const std::uint64_t end =
          std::min({begin_at + std::min<std::uint64_t>(size_at(begin_at), 8), parameter.size(),
                    next == by_byte.end() ? parameter.size() : next->first});
      Bytes bytes(parameter.size());
      for (std::uint64_t at = begin_at; at < end; ++at)
        bytes[at] = static_cast<std::uint8_t>(static_cast<std::uint64_t>(given.second) >>
                                              8 * (at - begin_at));
      give(parameter, bytes, fmt::format("{} = {}", given.first, given.second));
    }
  }
}

std::optional<std::uint64_t> GivenParameters::bits(const ParameterField &field) const {
  const auto found = bytes_.find(field.parameter);
  const auto begin = static_cast<std::uint64_t>(field.offset);
  if (found == bytes_.end() || field.offset < 0 || field.width > 64 ||
      begin + field.width / 8 > found->second.size())
    return std::nullopt;
  std::uint64_t result = 0;
  for (std::uint64_t i = 0; i < field.width / 8; ++i) {
    const auto byte = found->second[begin + i];
    if (!byte)
      return std::nullopt;
    result |= std::uint64_t{*byte} << 8 * i;
  }
  return result;
}

const GivenParameters::Bytes *GivenParameters::bytes(const Variable &parameter) const {
  const auto found = bytes_.find(parameter.name);
  return found == bytes_.end() ? nullptr : &found->second;
}

std::optional<ParameterField> field_at(const Function &kernel, std::uint32_t offset,
                                       unsigned width) {
  for (std::size_t i = 0; i < kernel.parameters.size(); ++i) {
    const std::uint32_t begin = kernel_parameter_offset(kernel, i);
    if (offset >= begin && offset < begin + kernel.parameters[i].size())
      return ParameterField{kernel.parameters[i].name, offset - begin, width};
  }
  return std::nullopt;
}

} // namespace ptxasw::analysis
