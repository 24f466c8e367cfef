// Calls through pointers: tables of functions, virtual functions, lanes that go different ways.
using Function = int (*)(int, int);
__device__ __noinline__ int scaled(int a, int b) { return a * 3 + b; }
__device__ __noinline__ int squared(int a, int b) { return a - b * b; }
__device__ __noinline__ int counted(int a, int b) {
  int n = 0;
  while (a > 0 && n < 100) {
    a -= b | 1;
    ++n;
  }
  return n;
}
__device__ Function table[3] = {scaled, squared, counted};

struct Shape {
  __device__ virtual int area(int) const = 0;
};
struct Square : Shape {
  int side;
  __device__ int area(int scale) const override { return scale * side * side; }
};
struct Strip : Shape {
  int length;
  __device__ int area(int scale) const override { return scale * 2 * length; }
};

extern "C" __global__ void pointers(int n, const int *in, int *out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x, x = in[i] & 1023;
  const Function chosen = i % 3 ? scaled : squared;
  int result = chosen(x, n) + table[x % 3](n, i);
  Square square;
  Strip strip;
  square.side = x;
  strip.length = i;
  const Shape *shape = i & 4 ? static_cast<const Shape *>(&square) : &strip;
  for (int k = 0; k < i % 4; ++k)
    result = result * 5 + shape->area(k + 1);
  out[i] = result;
}
