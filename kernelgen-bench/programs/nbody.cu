// Bodies that attract each other: every one interacts with every other.

#include "check.h"

__global__ void forces(const float4 *body, float3 *force, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  float4 me = body[i];
  float3 sum = {0, 0, 0};
  for (int j = 0; j < n; ++j) {
    float4 other = body[j];
    float dx = other.x - me.x, dy = other.y - me.y, dz = other.z - me.z;
    float r = rsqrtf(dx * dx + dy * dy + dz * dz + 1e-6f);
    float f = other.w * r * r * r;
    sum.x += f * dx;
    sum.y += f * dy;
    sum.z += f * dz;
  }
  force[i] = sum;
}

__global__ void move(float4 *body, const float3 *force, int n, float dt) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  body[i].x += force[i].x * dt;
  body[i].y += force[i].y * dt;
  body[i].z += force[i].z * dt;
}

int main(int argc, char **argv) {
  const int n = argc > 1 ? std::atoi(argv[1]) : 1 << 15;
  const int steps = argc > 2 ? std::atoi(argv[2]) : 50;
  auto *body = reinterpret_cast<float4 *>(random_numbers<float>(4 * static_cast<std::size_t>(n)));
  auto *force = reinterpret_cast<float3 *>(zeros<float>(3 * static_cast<std::size_t>(n)));
  timed(steps, [&] {
    forces<<<(n + 255) / 256, 256>>>(body, force, n);
    move<<<(n + 255) / 256, 256>>>(body, force, n, 1e-6f);
  });
  print_hash(reinterpret_cast<float *>(body), 4 * static_cast<std::size_t>(n));
}
