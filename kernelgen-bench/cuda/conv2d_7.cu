// 2-D convolution, 7 x 7 taps.
#include "conv2d.cuh"

extern "C" __global__ void conv2d_7(int nx, int ny, const float *weights, const float *in,
                                    float *out) {
  conv2d<7>(nx, ny, weights, in, out);
}
