// The Fortran versions have the C calling convention and the parameters of the others, less the
// steps behind the extents.
#include "host_cuda.h"

extern "C" {
void jacobi(int nx, int ny, float c0, float c1, float c2, const float *w0, float *w1);
void matmul(int nx, int ny, int nz, const float *a, const float *b, float *c);
void sincos_xy(int nx, int ny, int nz, const float *x, const float *y, float *xy);
}

namespace {
using host_cuda::call;
const host_cuda::Registered jacobi_entry("fortran jacobi",
                                         {[](void **arguments) { call(&jacobi, arguments, 2, 2); },
                                          9, false});
const host_cuda::Registered matmul_entry("fortran matmul",
                                         {[](void **arguments) { call(&matmul, arguments, 3, 2); },
                                          8, false});
const host_cuda::Registered
    sincos_entry("fortran sincos_xy",
                 {[](void **arguments) { call(&sincos_xy, arguments, 3, 3); }, 9, false});
} // namespace
