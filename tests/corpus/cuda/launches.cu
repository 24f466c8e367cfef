// VARIANTS: -arch=sm_75 -rdc=true | -arch=sm_90 -rdc=true -lineinfo
__global__ void child(int *p, int depth);

__global__ void parent(int *p, int depth) {
  if (threadIdx.x == 0 && depth > 0) {
    child<<<2, 32>>>(p + depth, depth - 1);
    child<<<2, 32, 128, cudaStreamTailLaunch>>>(p, depth - 1);
  }
}

__global__ void child(int *p, int depth) {
  p[threadIdx.x] = depth;
  if (depth > 0 && threadIdx.x == 0)
    parent<<<1, 32, 0, cudaStreamFireAndForget>>>(p, depth - 1);
}
