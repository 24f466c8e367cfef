#pragma once

// What a kernel with a sibling in it does before the two bodies, line by line.

#include "synth/in_kernel/in_kernel.h"
#include "synth/script.h"

#include <fmt/core.h>
#include <string>
#include <string_view>

namespace ptxasw::synth {

class InKernelScript {
public:
  InKernelScript(const Function &kernel, const InKernelForm &form, Script &to)
      : kernel_(kernel), form_(form), to_(to) {}

  /// Leads to `<$original>` or on to the sibling's body, with the thread's place there.
  void tell();

  unsigned words = 0, longs = 0, tests = 0; ///< registers of 32 and 64 bits, and predicates

private:
  std::string word() { return fmt::format("<r_word{}>", words++); }
  std::string special(std::string_view what, std::size_t axis);
  void jump_if(std::string_view comparison, const std::string &operands, std::string_view jump);
  void original_if(std::string_view comparison, const std::string &operands) {
    jump_if(comparison, operands, "bra <$original>");
  }
  void original_unless_multiple(std::uint32_t parameter, std::uint32_t offset, std::uint32_t bytes,
                                std::uint32_t divisor);
  void find_place(std::size_t axis);

  const Function &kernel_;
  const InKernelForm &form_;
  Script &to_;
};

} // namespace ptxasw::synth
