// VARIANTS: -arch=sm_75 | -arch=sm_90 -Xcicc -O0 | -arch=sm_120 -lineinfo
__global__ void jumps(int *p, int n) {
  int state = p[threadIdx.x];
  for (int i = 0; i < n; ++i) {
    switch (state & 15) {
    case 0:
      state += p[i];
      break;
    case 1:
      state = state * 3 + 1;
      continue;
    case 2:
      state ^= p[i + 1];
      [[fallthrough]];
    case 3:
      state -= 7;
      break;
    case 4:
      state <<= 1;
      break;
    case 5:
      if (p[i] > 3)
        return;
      state = -state;
      break;
    case 6:
      state /= 3;
      break;
    case 7:
      goto out;
    case 8:
      state = __clz(state);
      break;
    case 9:
      p[i] = state;
      break;
    case 10:
      state %= 10;
      break;
    default:
      state >>= 1;
    }
#pragma unroll 1
    while (state > 1000)
      state -= p[state & 31];
  }
out:
  if (__any_sync(0xffffffffu, state > 5))
    __trap();
  p[threadIdx.x] = state;
}
