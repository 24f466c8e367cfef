// Stencils that read their neighbours from tiles in shared memory, as people write them: each thread
// loads its points and the halo once, a barrier, and then every neighbour is an `ld.shared`. What
// `--shared=always` makes of them is timed by main.cpp. All kernels take (in, out, width, height)
// and have their block shape in main.cpp; extents are multiples of the blocks.

#define AT(x, y) (in[static_cast<size_t>(y) * width + (x)])

namespace {

/// Sum of 2R+1 neighbours in a row; blocks of 256.
template <class T, int R> __device__ void row(const T *in, T *out, int width, int height) {
  __shared__ T tile[256 + 2 * R];
  const int t = threadIdx.x, x = blockIdx.x * 256 + t, y = blockIdx.y;
  tile[t + R] = AT(x, y);
  if (t < R) {
    tile[t] = AT(max(x - R, 0), y);
    tile[t + 256 + R] = AT(min(x + 256, width - 1), y);
  }
  __syncthreads();
  T sum = 0;
#pragma unroll
  for (int d = 0; d <= 2 * R; d++)
    sum += static_cast<T>(d + 1) * tile[t + d];
  out[static_cast<size_t>(y) * width + x] = sum;
}

/// Sum over (2R+1) x (2R+1) points, or those on the two axes; blocks of X x Y, rows of `pitch`.
template <int R, int X, int Y, bool star>
__device__ void plane(const float *in, float *out, int width, int height) {
  constexpr int pitch = (X + 2 * R) | 1; // odd: columns do not meet in a bank
  __shared__ float tile[(Y + 2 * R) * pitch];
  const int tx = threadIdx.x, ty = threadIdx.y, x = blockIdx.x * X, y = blockIdx.y * Y;
  for (int j = ty; j < Y + 2 * R; j += Y)
    for (int i = tx; i < X + 2 * R; i += X)
      tile[j * pitch + i] =
          AT(min(max(x + i - R, 0), width - 1), min(max(y + j - R, 0), height - 1));
  __syncthreads();
  float sum = 0;
#pragma unroll
  for (int j = 0; j <= 2 * R; j++)
#pragma unroll
    for (int i = 0; i <= 2 * R; i++)
      if (!star || i == R || j == R)
        sum += static_cast<float>(1 + i + 3 * j) * tile[(ty + j) * pitch + tx + i];
  out[static_cast<size_t>(y + ty) * width + x + tx] = sum;
}

/// `sweeps` steps of a three-point average within a row of 256, two barriers each.
template <int sweeps> __device__ void heat(const float *in, float *out, int width, int height) {
  __shared__ float tile[258];
  const int t = threadIdx.x, x = blockIdx.x * 256 + t, y = blockIdx.y;
  tile[t + 1] = AT(x, y);
  if (t == 0)
    tile[0] = tile[257] = 0;
  __syncthreads();
  for (int s = 0; s < sweeps; s++) {
    const float now = 0.25f * tile[t] + 0.5f * tile[t + 1] + 0.25f * tile[t + 2];
    __syncthreads();
    tile[t + 1] = now;
    __syncthreads();
  }
  out[static_cast<size_t>(y) * width + x] = tile[t + 1];
}

} // namespace

#define KERNEL(NAME, T, WORK)                                                                      \
  extern "C" __global__ void NAME(const T *in, T *out, int width, int height) {                    \
    WORK(in, out, width, height);                                                                  \
  }
KERNEL(row_1, float, (row<float, 1>))
KERNEL(row_2, float, (row<float, 2>))
KERNEL(row_4, float, (row<float, 4>))
KERNEL(row_8, float, (row<float, 8>))
KERNEL(row_4_double, double, (row<double, 4>))
KERNEL(star_1, float, (plane<1, 32, 8, true>))
KERNEL(star_4, float, (plane<4, 32, 8, true>))
KERNEL(box_1, float, (plane<1, 32, 8, false>))
KERNEL(box_2, float, (plane<2, 32, 8, false>))
KERNEL(box_4, float, (plane<4, 32, 8, false>))
KERNEL(box_2_in_16, float, (plane<2, 16, 16, false>))
KERNEL(heat_64, float, (heat<64>))
