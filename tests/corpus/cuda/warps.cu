// VARIANTS: -arch=sm_75 | -arch=sm_90 -lineinfo
__global__ void warp_functions(int *p, unsigned long long *q) {
  int v = p[threadIdx.x];
  const unsigned mask = __activemask();
  v += __shfl_up_sync(mask, v, 1) + __shfl_xor_sync(mask, v, 4, 8) + __shfl_sync(mask, v, 3);
  v += __match_any_sync(mask, v);
  int all;
  v += __match_all_sync(mask, v, &all) + all + __popc(__ballot_sync(mask, v > 3));
  q[threadIdx.x] = __shfl_down_sync(mask, q[threadIdx.x], 2) + clock64() + __syncthreads_count(v);
  atomicMax(q, (unsigned long long)v);
  atomicInc(reinterpret_cast<unsigned *>(p) + 7, 31);
  __nanosleep(20);
  __syncwarp();
  p[threadIdx.x] = __syncthreads_or(v);
}
