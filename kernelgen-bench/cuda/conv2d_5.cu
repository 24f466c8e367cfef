// 2-D convolution, 5 x 5 taps.
#include "conv2d.cuh"

extern "C" __global__ void conv2d_5(int nx, int ny, const float *weights, const float *in,
                                    float *out) {
  conv2d<5>(nx, ny, weights, in, out);
}
