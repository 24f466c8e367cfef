// How often each byte occurs, one partial histogram per block; without the synchronisation that a
// correct program needs, as the published tool analyses it.

extern "C" __global__ void histogram256(unsigned *partial, const unsigned *data, unsigned dataCount) {
  __shared__ unsigned s[256 + 32]; // the second warp clears 32 words more than there are bins
  for (unsigned k = 0; k < 256 / 32; ++k)
    s[threadIdx.x + 32 * k] = 0;
  for (unsigned pos = 0; pos < dataCount; pos += blockDim.x * gridDim.x) {
    const unsigned d = data[pos + threadIdx.x];
    ++s[d & 0xff];
    ++s[d >> 8 & 0xff];
    ++s[d >> 16 & 0xff];
    ++s[d >> 24];
  }
  for (unsigned k = 0; k < 256 / 32; ++k)
    partial[threadIdx.x + 32 * k] = s[threadIdx.x + 32 * k];
}
