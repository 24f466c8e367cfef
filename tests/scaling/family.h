#pragma once

#include "grammar/namespaces.h"

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace ptxasw::scaling {

/// A kind of kernel that can be made in any size.
struct Family {
  std::string_view name;
  std::string_view meaning; ///< for people
  /// A module with one kernel of about `size` instructions, at least one unit of the kind.
  std::string (*make)(std::size_t size);
};

std::span<const Family> families();

} // namespace ptxasw::scaling
