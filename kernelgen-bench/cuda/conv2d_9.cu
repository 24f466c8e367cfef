// 2-D convolution, 9 x 9 taps.
#include "conv2d.cuh"

extern "C" __global__ void conv2d_9(int nx, int ny, const float *weights, const float *in,
                                    float *out) {
  conv2d<9>(nx, ny, weights, in, out);
}
