// dlsym() and dlopen() as the program sees them.
//
// Both look at where they were called from: RTLD_NEXT, RTLD_DEFAULT and the search for a library
// depend on the caller. So what we do not answer ourselves must reach the real function with the
// caller's return address still on the stack; no C++ compiler promises that, and a few lines of
// assembly do it: ask find_symbol(), then return its answer or jump.
//
// - dlsym(RTLD_NEXT, ...) goes through: it is another interposer looking past itself. Only where
//   there is no driver is it answered, with nothing, since the caller may stand before us.
// - dlsym(NULL, ...), which is RTLD_DEFAULT, would find our own cuLaunchKernel even where no driver
//   is loaded; so it is answered with what lies behind us.
// - A library opened with RTLD_DEEPBIND finds libc's dlsym before ours. Its launches are not seen,
//   nor are its unloads; so from then on nothing is redirected (state.h).

#include "wrapper/launch/exported.h"
#include "wrapper/launch/hooks.h"
#include "wrapper/launch/nvrtc.h"
#include "wrapper/launch/state.h"

#include <cstring>
#include <dlfcn.h>

namespace ptxasw::wrapper::launch {
namespace {

/// In two registers, as the assembly expects: where to jump (null: nowhere), or else the answer.
struct Found {
  void *answer;
  void *jump;
};

} // namespace
} // namespace ptxasw::wrapper::launch

using namespace ptxasw::wrapper::launch;

extern "C" {

__attribute__((visibility("hidden"), used)) Found
ptxasw_launch_find_symbol(void *library, const char *name, const void *caller) {
  const Found through{nullptr, dlsym_address()};
  // Letters first: sanitizers look things up before they can bear a call of strcmp().
  const char *const letters = name && name[0] == '_' && name[1] == '_' ? name + 2 : name;
  if (letters && letters[0] == 'n' && letters[1] == 'v' && our_compiler && library != RTLD_NEXT &&
      !LookupGuard::active())
    if (void *const ours = our_compiler(name)) {
      const LookupGuard guard;
      void *const found =
          library == RTLD_DEFAULT ? behind_ours(name, ours, caller) : real_dlsym(library, name);
      return {replace_compiler(name, found), nullptr};
    }
  if (!name || name[0] != 'c' || name[1] != 'u' || LookupGuard::active() || !is_hook(name))
    return through;
  const LookupGuard guard;
  if (library == RTLD_NEXT)
    return real_dlsym(RTLD_NEXT, name) ? through : Found{nullptr, nullptr};
  void *const found = real_dlsym(library == RTLD_DEFAULT ? RTLD_NEXT : library, name);
  // A null answer leaves dlerror() as the lookup behind us set it.
  return {found ? replace_symbol(name, found) : nullptr, nullptr};
}

__attribute__((visibility("hidden"), used)) void *ptxasw_launch_note_open(const char *, int mode) {
  if (mode & RTLD_DEEPBIND)
    switch_off(Off::deep_bind);
  return real_dlsym(RTLD_NEXT, "dlopen");
}
}

#ifndef __x86_64__
#error "the launch helper knows the calling convention of x86-64 alone"
#endif

asm(R"(
        .text
        .globl dlsym
        .type dlsym, @function
dlsym:
        .cfi_startproc
        endbr64
        pushq %rdi
        .cfi_adjust_cfa_offset 8
        pushq %rsi
        .cfi_adjust_cfa_offset 8
        movq 16(%rsp), %rdx
        subq $8, %rsp
        .cfi_adjust_cfa_offset 8
        call ptxasw_launch_find_symbol
        addq $8, %rsp
        .cfi_adjust_cfa_offset -8
        popq %rsi
        .cfi_adjust_cfa_offset -8
        popq %rdi
        .cfi_adjust_cfa_offset -8
        testq %rdx, %rdx
        jne 1f
        ret
1:      jmp *%rdx
        .cfi_endproc
        .size dlsym, .-dlsym

        .globl dlopen
        .type dlopen, @function
dlopen:
        .cfi_startproc
        endbr64
        pushq %rdi
        .cfi_adjust_cfa_offset 8
        pushq %rsi
        .cfi_adjust_cfa_offset 8
        subq $8, %rsp
        .cfi_adjust_cfa_offset 8
        call ptxasw_launch_note_open
        addq $8, %rsp
        .cfi_adjust_cfa_offset -8
        popq %rsi
        .cfi_adjust_cfa_offset -8
        popq %rdi
        .cfi_adjust_cfa_offset -8
        jmp *%rax
        .cfi_endproc
        .size dlopen, .-dlopen
)");
