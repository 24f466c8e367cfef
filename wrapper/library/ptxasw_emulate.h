#ifndef PTXASW_EMULATE_H
#define PTXASW_EMULATE_H

/* libptxasw_emulate.so: kernels of a PTX module, run on the CPU on the memory of the program that
   calls. No GPU, no CUDA. All functions return 0 if the kernel ran to its end, 1 if it failed (an
   access out of bounds, a trap, a deadlock), 2 if it could not be tried (PTX that is not
   understood, an instruction that is not emulated, an impossible launch). What went wrong is said
   on standard error and by ptxasw_error(). A failed kernel leaves behind what it stored until then.

   A kernel's variables in .global and .const memory are fresh in every run. Launches from several
   threads at once are independent of each other.

     if (ptxasw_launch(ptx, "saxpy", grid, block, 0, params)) puts(ptxasw_error()); */

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

/* Runs the first kernel of a module; the interface of the Ocelot library. `args` has a parameter's
   value in each element, not its address: of a buffer the address in this process, of an integer
   its value, of a parameter of fewer bytes the low ones. lx ly lz are the block's extents in
   threads, gx gy gz the grid's in blocks, smem the bytes of dynamic shared memory. */
int ptx_run(char *ptx, int nargs, void **args, int lx, int ly, int lz, int gx, int gy, int gz,
            int smem);

/* The same in the manner of cuLaunchKernel: a kernel by its name (NULL: the first), the grid before
   the block, and in `params` the addresses of the parameters' values, which may have any size. */
int ptxasw_launch(const char *ptx, const char *kernel, const unsigned grid[3],
                  const unsigned block[3], unsigned shared_bytes, void **params);

/* A parameter of a kernel: its type as in the PTX, without the dot ("u64", "f32", "b8" of a
   structure), and the bytes of its value. */
struct ptxasw_parameter {
  char type[8];
  size_t bytes;
};
/* The first `capacity` parameters of a kernel by its name (NULL: the first), and how many there
   are. */
int ptxasw_parameters(const char *ptx, const char *kernel, struct ptxasw_parameter *parameters,
                      size_t capacity, size_t *count);

/* Bounds. Until this is called, a kernel may touch every page that is mapped into the process (what
   is not mapped is a fault, not a crash of the process). From the first call on it may touch only
   the ranges that were named, and store only to those named writable. Returns 2 if the range wraps
   around. */
int ptxasw_allow(const void *start, size_t bytes, int writable);
/* Takes a range back that begins here; the last one taken back lifts the restriction. */
void ptxasw_forget(const void *start);

/* What the last call in this thread complained about; "" if it did not. */
const char *ptxasw_error(void);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif
#endif
