// Kernels of COpPER's evaluation, written anew from their descriptions; the eighth, SYN-BRDIS, is in
// tests/bound/racuda/branches.cu. copper.ptx is made by `nvcc -arch=sm_90 -ptx -Xcicc -O0`: with more
// optimization nvcc itself melds the arms of addSub0 and rank.

extern "C" __global__ void addSub0(const int *A, int *B, int w, int h) {
  const int j = blockIdx.x * blockDim.x + threadIdx.x;
  for (int i = 0; i < w; ++i) {
    if (j % 2 == 0)
      B[j * w + i] += A[i];
    else
      B[j * w + i] -= A[i];
  }
}

extern "C" __global__ void addSub2(const int *A, int *B, int w, int h) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  for (int j = 0; j < h; j += 2) {
    B[j * w + i] += A[i];
    B[(j + 1) * w + i] -= A[i];
  }
}

// The matrix times the vector, a row per thread: each element of either is read once.
extern "C" __global__ void dmvm(const float *matrix, const float *x, float *y, int w, int h) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row < h) {
    float sum = 0;
    for (int c = 0; c < w; ++c)
      sum += matrix[row * w + c] * x[c];
    y[row] = sum;
  }
}

// The same with matrix and vector in each other's place: the vector's element is read anew.
extern "C" __global__ void dvmm(const float *x, const float *matrix, float *y, int w, int h) {
  const int column = blockIdx.x * blockDim.x + threadIdx.x;
  y[column] = 0;
  for (int r = 0; r < h; ++r)
    y[column] += x[column] * matrix[r * w + column];
}

// Every thread does all of it: no index of a thread is used.
extern "C" __global__ void elementWise(const float *a, const float *b, float *c, int n) {
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j)
      c[i] = a[i] + b[i];
}

extern "C" __global__ void conv1D(const float *in, const float *mask, float *out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = 0;
  for (int k = 0; k < 5; ++k)
    out[i] += in[i + k] * mask[k];
}

// How many elements are smaller, or equal and further to the front.
extern "C" __global__ void rank(const int *in, int *out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    int count = 0;
    for (int j = 0; j < n; ++j) {
      if (in[j] < in[i])
        ++count;
      else if (in[j] == in[i] && j < i)
        ++count;
    }
    out[i] = count;
  }
}
