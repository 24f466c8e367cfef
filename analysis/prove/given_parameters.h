#pragma once

// What is known of a kernel's parameters before the launch: some of their bytes. A number may be
// read whole, in parts and as a vector, so only bytes say for all of these what they are.

#include "emulator/symbolic/emulate.h"
#include "grammar/module.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace ptxasw::analysis {

class GivenParameters {
public:
  using Bytes = std::vector<std::optional<std::uint8_t>>;

  /// Bytes of one parameter, from its first on, and a text that says so; where nothing is given
  /// they stay what they were.
  void give(const Variable &parameter, const Bytes &bytes, std::string text);
  /// Numbers, as bit patterns, by facts::parameter_name(): each of a whole parameter, or of what
  /// the kernel reads at a byte of an array, as far as no other one begins there.
  void give(const Module &module, const Function &kernel,
            const std::map<std::string, std::int64_t> &numbers);

  /// What is read there, at most 64 bits; nothing if a byte of it is not given.
  std::optional<std::uint64_t> bits(const ParameterField &field) const;
  /// Null: no byte of the parameter is given.
  const Bytes *bytes(const Variable &parameter) const;
  const std::vector<std::string> &texts() const { return texts_; }

private:
  std::map<std::string, Bytes, std::less<>> bytes_;
  std::vector<std::string> texts_;
};

/// The part of a kernel's parameters that lies at an offset in its parameter bytes, `width` bits;
/// nothing: there is none.
std::optional<ParameterField> field_at(const Function &kernel, std::uint32_t offset,
                                       unsigned width);

} // namespace ptxasw::analysis
