// VARIANTS: -arch=sm_75 | -arch=sm_90 -lineinfo | -arch=sm_90 -G | -arch=sm_80 -rdc=true
#include <cassert>
#include <cstdio>

struct Shape {
  __device__ virtual float area(float scale) const = 0;
  __device__ virtual ~Shape() {}
};
struct Square : Shape {
  float side;
  __device__ explicit Square(float s) : side(s) {}
  __device__ float area(float scale) const override { return side * side * scale; }
};
struct Circle : Shape {
  double radius;
  __device__ explicit Circle(float r) : radius(r) {}
  __device__ float area(float scale) const override {
    return float(3.14159 * radius * radius) * scale;
  }
};

__device__ int fibonacci(int n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }
__device__ __noinline__ int4 rotate(int4 v, const char *) { return {v.y, v.z, v.w, v.x}; }
using Function = float (*)(float);
__device__ float twice(float x) { return x * 2; }
__device__ float half_of(float x) { return x / 2; }
__device__ Function functions[] = {twice, half_of};

__global__ void calls(float *out, int n) {
  alignas(16) char space[64];
  Shape *shape = n & 1 ? static_cast<Shape *>(new (space) Square(n)) : new Circle(n);
  assert(out != nullptr);
  printf("%d %f %s\n", n, shape->area(2), "text");
  const int4 v = rotate({n, n + 1, n + 2, fibonacci(n)}, __func__);
  out[threadIdx.x] = functions[n & 1](v.w) + v.x;
  void *memory = malloc(n);
  free(memory);
}
