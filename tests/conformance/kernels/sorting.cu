// Sorting networks in shared memory, merging by binary search, recursion with an explicit stack.
extern "C" __global__ void bitonic(unsigned *data) {
  __shared__ unsigned keys[512];
  const unsigned base = blockIdx.x * 512;
  for (unsigned i = threadIdx.x; i < 512; i += blockDim.x)
    keys[i] = data[base + i];
  for (unsigned size = 2; size <= 512; size *= 2)
    for (unsigned stride = size / 2; stride > 0; stride /= 2) {
      __syncthreads();
      for (unsigned n = threadIdx.x; n < 256; n += blockDim.x) {
        const unsigned at = 2 * n - (n & (stride - 1));
        const bool up = (at & size) == 0;
        const unsigned a = keys[at], b = keys[at + stride];
        if ((a > b) == up) {
          keys[at] = b;
          keys[at + stride] = a;
        }
      }
    }
  __syncthreads();
  for (unsigned i = threadIdx.x; i < 512; i += blockDim.x)
    data[base + i] = keys[i];
}

// Odd-even by shuffles, signed keys with their first positions.
extern "C" __global__ void odd_even(const int *in, int *out) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % 32;
  int key = in[i];
  int place = static_cast<int>(i);
  for (unsigned round = 0; round < 32; ++round) {
    const unsigned partner = (lane & 1) == (round & 1) ? lane + 1 : lane - 1;
    const int other = __shfl_sync(~0u, key, partner & 31);
    const int from = __shfl_sync(~0u, place, partner & 31);
    if (partner > 31)
      continue;
    const bool smaller = key < other || (key == other && place < from);
    if (smaller != (lane < partner)) {
      key = other;
      place = from;
    }
  }
  out[2 * i] = key;
  out[2 * i + 1] = place;
}

// Each thread its own quicksort, in local memory.
extern "C" __global__ void quicksort(const unsigned *in, unsigned *out) {
  unsigned keys[24];
  unsigned char stack[48];
  const unsigned base = (blockIdx.x * blockDim.x + threadIdx.x) * 24;
  for (int i = 0; i < 24; ++i)
    keys[i] = in[base + i];
  int top = 0;
  stack[top++] = 0;
  stack[top++] = 23;
  while (top > 0) {
    int high = stack[--top], low = stack[--top];
    if (low >= high)
      continue;
    const unsigned pivot = keys[(low + high) / 2];
    int i = low, j = high;
    while (i <= j) {
      while (keys[i] < pivot)
        ++i;
      while (keys[j] > pivot)
        --j;
      if (i <= j) {
        const unsigned t = keys[i];
        keys[i++] = keys[j];
        keys[j--] = t;
      }
    }
    if (low < j) {
      stack[top++] = static_cast<unsigned char>(low);
      stack[top++] = static_cast<unsigned char>(j);
    }
    if (i < high) {
      stack[top++] = static_cast<unsigned char>(i);
      stack[top++] = static_cast<unsigned char>(high);
    }
  }
  for (int i = 0; i < 24; ++i)
    out[base + i] = keys[i];
}
