// The Fortran versions have the C calling convention and the parameters of the others.
#include "host_cuda.h"

extern "C" {
void jacobi(int nx, int ny, float c0, float c1, float c2, const float *w0, float *w1);
void matmul(int nx, int ny, int nz, const float *a, const float *b, float *c);
void sincos_xy(int nx, int ny, int nz, const float *x, const float *y, float *xy);
}

namespace {
using host_cuda::call;
const host_cuda::Registered
    jacobi_entry("fortran jacobi", {[](void **arguments) { call(&jacobi, arguments); }, 7, false});
const host_cuda::Registered
    matmul_entry("fortran matmul", {[](void **arguments) { call(&matmul, arguments); }, 6, false});
const host_cuda::Registered sincos_entry("fortran sincos_xy",
                                         {[](void **arguments) { call(&sincos_xy, arguments); }, 6,
                                          false});
} // namespace
