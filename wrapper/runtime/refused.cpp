// What is not there says so, once a function, and returns cudaErrorNotSupported. The functions are
// declared without their parameters, which nobody reads.

#include <mutex>

namespace ptxasw::wrapper {
int refuse(const char *name, const char *why);
int refuse_driver(const char *name, const char *why);
}

extern "C" {
#define PTXASW_REFUSED(name, why)                                                                  \
  int name() { return ptxasw::wrapper::refuse(#name, why); }
#include "wrapper/runtime/refused.def"
#undef PTXASW_REFUSED
#define PTXASW_REFUSED(name, why)                                                                  \
  int name() { return ptxasw::wrapper::refuse_driver(#name, why); }
#include "wrapper/runtime/driver_refused.def"
#undef PTXASW_REFUSED
}

// NOLINTBEGIN(hicpp-no-assembler)
#define PTXASW_PER_THREAD(name, suffix)                                                            \
  asm(".globl " #name "_" #suffix "\n.type " #name "_" #suffix ", @function\n" #name "_" #suffix   \
      ":\n\tjmp " #name "@PLT\n");
#include "wrapper/runtime/per_thread.def"
#undef PTXASW_PER_THREAD
// NOLINTEND(hicpp-no-assembler)
