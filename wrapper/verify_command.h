#pragma once

#include "emulator/warp_verify.h"

#include <string>

namespace ptxasw {

/// `ptxasw verify ORIGINAL REWRITTEN`.
struct VerifyRequest {
  std::string original, rewritten;
  VerifyOptions options;
  bool verbose = false;
};

/// Exit code 0: all kernels agree, and every changed instruction was executed. 1: one differs. 2:
/// something could not be checked. 3: no difference, but not everything that changed was executed.
int verify_command(const VerifyRequest &request);

} // namespace ptxasw
