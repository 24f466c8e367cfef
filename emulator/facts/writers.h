#pragma once

// Who may write what a kernel's loads read while it runs, by the text alone.
//   Writers(module, kernel).conflict(load) // nothing: nobody writes what it reads

#include "emulator/facts/origins.h"

#include <cstdint>
#include <optional>
#include <set>
#include <vector>

namespace ptxasw::facts {

/// A store that may write what a load reads.
struct Conflict {
  std::uint32_t store = 0;
  /// The access of which it is not known in which array it is; no_index: both are in the same.
  std::uint32_t unknown = no_index;
};

class Writers {
public:
  Writers(const Module &module, const Function &kernel);

  /// The first instruction that might let a thread see what another kernel or the host has written
  /// meanwhile, or that writes where nobody knows. There is no more to say of a kernel with one.
  std::optional<std::uint32_t> unknown() const { return unknown_; }
  /// Instructions that write global memory, or may: their first operand is the address.
  const std::vector<std::uint32_t> &stores() const { return stores_; }
  /// The first store that may write what a load reads. `apart`: arrays that different parameters
  /// lead to do not overlap, nor do they overlap variables; else any store may.
  std::optional<Conflict> conflict(std::uint32_t load, bool apart = true);

private:
  const std::set<Origin> &origins(std::uint32_t access, std::size_t operand);

  const Module &module_;
  const Function &kernel_;
  std::vector<std::uint32_t> stores_;
  std::optional<std::uint32_t> unknown_;
  std::optional<Origins> origins_; ///< once they are asked for
};

} // namespace ptxasw::facts
