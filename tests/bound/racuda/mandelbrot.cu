// The Mandelbrot set, an image in blocks, which a grid of any size works off. How long a point takes
// depends on the point.

__device__ int escape_time(float x0, float y0, int limit) {
  float x = x0, y = y0;
  int left = limit;
  while (left > 0 && x * x + y * y < 4.0f) {
    const float next = x * x - y * y + x0;
    y = 2 * x * y + y0;
    x = next;
    --left;
  }
  return left;
}

extern "C" __global__ void mandelbrot(uchar4 *image, int width, int height, int limit, float left, float top,
                           float scale, int frame, int blocks_x, int blocks) {
  for (int block = blockIdx.x; block < blocks; block += gridDim.x) {
    const int ix = blockDim.x * (block % blocks_x) + threadIdx.x;
    const int iy = blockDim.y * (block / blocks_x) + threadIdx.y;
    if (ix >= width || iy >= height)
      continue;
    int m = escape_time(left + ix * scale, top + iy * scale, limit);
    m = m > 0 ? limit - m : 0;
    uchar4 color;
    color.x = m * 3;
    color.y = m * 5;
    color.z = m * 7;
    const int pixel = width * iy + ix;
    if (frame == 0) {
      color.w = 0;
      image[pixel] = color;
    } else {
      const int next = frame + 1, half = next / 2;
      image[pixel].x = (image[pixel].x * frame + color.x + half) / next;
      image[pixel].y = (image[pixel].y * frame + color.y + half) / next;
      image[pixel].z = (image[pixel].z * frame + color.z + half) / next;
    }
  }
}
