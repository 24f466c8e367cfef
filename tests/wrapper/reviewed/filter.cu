// A filter whose weights are constant memory; an image of pixels of four bytes.
__constant__ float weights[9];
__global__ void filter(const uchar4 *in, uchar4 *out, int width, int height) {
  const int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
  if (x < 1 || y < 1 || x >= width - 1 || y >= height - 1)
    return;
  float r = 0, g = 0, b = 0;
  for (int j = -1; j <= 1; ++j)
    for (int i = -1; i <= 1; ++i) {
      const uchar4 p = in[(y + j) * width + x + i];
      const float w = weights[(j + 1) * 3 + i + 1];
      r += w * p.x;
      g += w * p.y;
      b += w * p.z;
    }
  out[y * width + x] = make_uchar4(r, g, b, 255);
}
