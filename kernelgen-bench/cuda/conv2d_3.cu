// 2-D convolution, 3 x 3 taps.
#include "conv2d.cuh"

extern "C" __global__ void conv2d_3(int nx, int ny, const float *weights, const float *in,
                                    float *out) {
  conv2d<3>(nx, ny, weights, in, out);
}
