// Records of 32 bytes, of which a kernel uses some members; and keys of 64 bits.
struct Body {
  float x, y, z, mass, vx, vy, vz, charge;
};

__global__ void drift(Body *bodies, int n, float dt) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  bodies[i].x += bodies[i].vx * dt; // lint: uncoalesced
  bodies[i].y += bodies[i].vy * dt; // lint: uncoalesced
}

__global__ void hash(const long long *keys, int *out, long long buckets, int rounds, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  long long k = keys[i];
  for (int r = 0; r < rounds; ++r)
    k = (k * 31 + 1) % buckets; // lint: wide-index
  out[i] = static_cast<int>(k);
}
