// Forces between bodies: every block reads all of them, a tile at a time; a body is one vector.
__global__ void forces(const float4 *bodies, float4 *force, int n) {
  __shared__ float4 tile[128];
  const int i = blockIdx.x * 128 + threadIdx.x;
  const float4 own = bodies[i];
  float3 f = {};
  for (int k = 0; k < n; k += 128) {
    tile[threadIdx.x] = bodies[k + threadIdx.x];
    __syncthreads();
    for (int j = 0; j < 128; ++j) {
      const float dx = tile[j].x - own.x, dy = tile[j].y - own.y, dz = tile[j].z - own.z;
      const float r = rsqrtf(dx * dx + dy * dy + dz * dz + 1e-9f), w = tile[j].w * r * r * r;
      f.x += w * dx;
      f.y += w * dy;
      f.z += w * dz;
    }
    __syncthreads();
  }
  force[i] = {f.x, f.y, f.z, 0};
}
