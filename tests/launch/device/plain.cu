// A kernel of the same name as one in siblings.cu, without siblings.
extern "C" __global__ void stream(const float *in, float *out, int n, float a, float b) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    out[i] = a * in[i] + b;
}
