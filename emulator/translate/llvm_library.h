#pragma once

// Compiles LLVM IR to code in this process, by a libLLVM that need not be there when ptxasw is
// built. Where none is found, the interpreter runs kernels.

#include "emulator/translate/ir_domain.h"

#include <memory>
#include <string>
#include <tl/expected.hpp>

namespace ptxasw::emulator {

/// Code in this process's memory, for as long as this lives.
class MachineCode {
public:
  virtual ~MachineCode() = default;
  virtual std::uint64_t address(const char *function) const = 0;
};

/// libLLVM, opened at run time and used by its documented C interface (llvm-c). Threads may call
/// at once.
class LlvmLibrary {
public:
  /// Opens one of the versions that are known to work. Error: why there is none.
  static tl::expected<std::unique_ptr<LlvmLibrary>, std::string> open(HostVectors vectors);
  virtual ~LlvmLibrary() = default;
  virtual int version() const = 0;
  virtual HostFeatures host() const = 0;
  /// Compiles a module of IR for this processor. Error: what LLVM says.
  virtual tl::expected<std::unique_ptr<MachineCode>, std::string>
  compile(const std::string &ir) const = 0;
};

} // namespace ptxasw::emulator
