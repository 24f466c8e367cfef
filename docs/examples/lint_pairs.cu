// For each warning of `ptxasw lint` a kernel that gets it, and one that computes the same without it.
// lint_pairs_time.cu measures both. All numbers are whole, so that results can be compared exactly.
//   nvcc -ptx -arch=sm_90 lint_pairs.cu

// uncoalesced: lanes are a row apart.
extern "C" __global__ void uncoalesced_before(const int *in, int *out, int n) {
  const int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
  out[x * n + y] = in[y * n + x];
}

extern "C" __global__ void uncoalesced_after(const int *in, int *out, int n) {
  __shared__ int tile[32][33];
  const int x = blockIdx.x * 32, y = blockIdx.y * 32;
  for (int row = threadIdx.y; row < 32; row += 8)
    tile[row][threadIdx.x] = in[(y + row) * n + x + threadIdx.x];
  __syncthreads();
  for (int row = threadIdx.y; row < 32; row += 8)
    out[(x + row) * n + y + threadIdx.x] = tile[threadIdx.x][row];
}

// uncoalesced: one number of a record.
struct Record {
  int x, others[7];
};

extern "C" __global__ void records_before(const Record *in, int *out) {
  const int i = blockIdx.x * 256 + threadIdx.x;
  out[i] = in[i].x;
}

extern "C" __global__ void records_after(const int *x, int *out) {
  const int i = blockIdx.x * 256 + threadIdx.x;
  out[i] = x[i];
}

// uncoalesced: rows that begin in the middle of a sector.
extern "C" __global__ void rows_before(const int *in, int *out) {
  const int x = blockIdx.x * 256 + threadIdx.x;
  out[blockIdx.y * 1024 + x] = in[blockIdx.y * 1025 + x];
}

extern "C" __global__ void rows_after(const int *in, int *out) {
  const int x = blockIdx.x * 256 + threadIdx.x;
  out[blockIdx.y * 1024 + x] = in[blockIdx.y * 1056 + x];
}

// uncoalesced: every lane goes where its own data says.
extern "C" __global__ void indirect_before(const int *table, const int *index, int *out) {
  const int i = blockIdx.x * 256 + threadIdx.x;
  int sum = 0;
  for (int k = 0; k < 64; ++k)
    sum += table[index[k * gridDim.x * 256 + i] & 4095];
  out[i] = sum;
}

extern "C" __global__ void indirect_after(const int *table, const int *index, int *out) {
  __shared__ int near[4096];
  for (int k = threadIdx.x; k < 4096; k += 256)
    near[k] = table[k];
  __syncthreads();
  const int i = blockIdx.x * 256 + threadIdx.x;
  int sum = 0;
  for (int k = 0; k < 64; ++k)
    sum += near[index[k * gridDim.x * 256 + i] & 4095];
  out[i] = sum;
}

// bank-conflict: a column of 32 numbers lies in one bank.
extern "C" __global__ void bank_conflict_before(const int *in, int *out, int n) {
  __shared__ int tile[32][32];
  const int x = blockIdx.x * 32, y = blockIdx.y * 32;
  for (int row = threadIdx.y; row < 32; row += 8)
    tile[row][threadIdx.x] = in[(y + row) * n + x + threadIdx.x];
  __syncthreads();
  for (int row = threadIdx.y; row < 32; row += 8)
    out[(x + row) * n + y + threadIdx.x] = tile[threadIdx.x][row];
}

// The other one is uncoalesced_after.

// divergent-loop: the warp runs as long as its longest row; its lanes read from 32 rows.
extern "C" __global__ void divergent_loop_before(const int *in, const int *begin, int *out) {
  const int row = blockIdx.x * 256 + threadIdx.x;
  int sum = 0;
  for (int k = begin[row]; k < begin[row + 1]; ++k)
    sum += in[k];
  out[row] = sum;
}

extern "C" __global__ void divergent_loop_after(const int *in, const int *begin, int *out) {
  const int row = blockIdx.x * 8 + threadIdx.x / 32;
  const int first = begin[row], last = begin[row + 1];
  int sum = 0;
  for (int k = first; k < last; k += 32)
    if (const int own = k + threadIdx.x % 32; own < last)
      sum += in[own];
  for (int step = 16; step > 0; step /= 2)
    sum += __shfl_down_sync(~0u, sum, step);
  if (threadIdx.x % 32 == 0)
    out[row] = sum;
}

// local-memory: counters that are chosen by data.
extern "C" __global__ void local_memory_before(const int *in, int *out) {
  const int i = blockIdx.x * 256 + threadIdx.x;
  int count[16] = {};
  for (int k = 0; k < 64; ++k)
    ++count[in[k * gridDim.x * 256 + i] & 15];
  for (int k = 0; k < 16; ++k)
    out[k * gridDim.x * 256 + i] = count[k];
}

extern "C" __global__ void local_memory_after(const int *in, int *out) {
  __shared__ int count[16][256];
  const int i = blockIdx.x * 256 + threadIdx.x;
  for (int k = 0; k < 16; ++k)
    count[k][threadIdx.x] = 0;
  for (int k = 0; k < 64; ++k)
    ++count[in[k * gridDim.x * 256 + i] & 15][threadIdx.x];
  for (int k = 0; k < 16; ++k)
    out[k * gridDim.x * 256 + i] = count[k][threadIdx.x];
}

// uniform-load: a table that all lanes walk along together.
extern "C" __global__ void uniform_load_before(const int *in, const int *table, int *out) {
  const int i = blockIdx.x * 256 + threadIdx.x;
  int x = in[i];
  for (int k = 0; k < 1024; ++k)
    x = x * 3 + table[k];
  out[i] = x;
}

__constant__ int constant_table[1024];
extern "C" __global__ void uniform_load_after(const int *in, int *out) {
  const int i = blockIdx.x * 256 + threadIdx.x;
  int x = in[i];
  for (int k = 0; k < 1024; ++k)
    x = x * 3 + constant_table[k];
  out[i] = x;
}

extern "C" __global__ void uniform_load_shuffled(const int *in, const int *table, int *out) {
  const int i = blockIdx.x * 256 + threadIdx.x;
  int x = in[i];
  for (int k = 0; k < 1024; k += 32) {
    const int own = table[k + threadIdx.x % 32];
    for (int lane = 0; lane < 32; ++lane)
      x = x * 3 + __shfl_sync(~0u, own, lane);
  }
  out[i] = x;
}

// redundant-load: nobody says that `out` and `in` are not one array.
extern "C" __global__ void redundant_load_before(const int *in, int *out, int *twice) {
  const int i = blockIdx.x * 256 + threadIdx.x;
  out[i] = in[i] + 1;
  twice[i] = in[i] * 2;
}

extern "C" __global__ void redundant_load_after(const int *in, int *out, int *twice) {
  const int i = blockIdx.x * 256 + threadIdx.x;
  const int x = in[i];
  out[i] = x + 1;
  twice[i] = x * 2;
}

// wide-index: a division of 64 bits in a loop, where 32 would do.
extern "C" __global__ void wide_index_before(int *out, long long size, int rounds) {
  const int i = blockIdx.x * 256 + threadIdx.x;
  int sum = 0;
  for (long long k = 0; k < rounds; ++k)
    sum += static_cast<int>((i + k * 977) % size);
  out[i] = sum;
}

extern "C" __global__ void wide_index_after(int *out, int size, int rounds) {
  const int i = blockIdx.x * 256 + threadIdx.x;
  int sum = 0;
  for (int k = 0; k < rounds; ++k)
    sum += (i + k * 977) % size;
  out[i] = sum;
}

// division: by a number that only the launch gives; the remainder can step along.
extern "C" __global__ void division_before(int *out, int size, int rounds) {
  const int i = blockIdx.x * 256 + threadIdx.x;
  int sum = 0;
  for (int k = 0; k < rounds; ++k)
    sum += ((i + k) % size) ^ k;
  out[i] = sum;
}

extern "C" __global__ void division_after(int *out, int size, int rounds) {
  const int i = blockIdx.x * 256 + threadIdx.x;
  int sum = 0;
  for (int k = 0, rest = i % size; k < rounds; ++k) {
    sum += rest ^ k;
    rest = rest + 1 == size ? 0 : rest + 1;
  }
  out[i] = sum;
}

// contended-atomic: all threads add to one number; 64 bits, which the compiler does not add up by warps.
extern "C" __global__ void contended_atomic_before(const int *in, unsigned long long *sum) {
  const int i = blockIdx.x * 256 + threadIdx.x;
  atomicAdd(sum, static_cast<unsigned long long>(in[i]));
}

extern "C" __global__ void contended_atomic_after(const int *in, unsigned long long *sum) {
  const int i = blockIdx.x * 256 + threadIdx.x;
  unsigned long long x = in[i];
  for (int step = 16; step > 0; step /= 2)
    x += __shfl_down_sync(~0u, x, step);
  if (threadIdx.x % 32 == 0)
    atomicAdd(sum, x);
}

// misaligned-vector: records of five numbers. It faults.
extern "C" __global__ void misaligned_vector_before(const int *in, int *out) {
  const int i = blockIdx.x * 256 + threadIdx.x;
  const int4 v = *reinterpret_cast<const int4 *>(in + 5 * i);
  out[i] = v.x + v.y + v.z + v.w;
}

extern "C" __global__ void misaligned_vector_narrow(const int *in, int *out) {
  const int i = blockIdx.x * 256 + threadIdx.x;
  const int *v = in + 5 * i;
  out[i] = v[0] + v[1] + v[2] + v[3];
}

extern "C" __global__ void misaligned_vector_padded(const int *in, int *out) {
  const int i = blockIdx.x * 256 + threadIdx.x;
  const int4 v = *reinterpret_cast<const int4 *>(in + 8 * i);
  out[i] = v.x + v.y + v.z + v.w;
}

// vector-precondition: rows of any length are read number by number, rows of a multiple of four by vectors.
extern "C" __global__ void vector_precondition_before(const int *in, int *out, int n) {
  const int *row = in + blockIdx.x * n;
  int sum = 0;
  for (int k = threadIdx.x; k < 1020; k += 32)
    sum += row[k];
  for (int step = 16; step > 0; step /= 2)
    sum += __shfl_down_sync(~0u, sum, step);
  if (threadIdx.x == 0)
    out[blockIdx.x] = sum;
}

extern "C" __global__ void vector_precondition_after(const int *in, int *out, int n) {
  const int4 *row = reinterpret_cast<const int4 *>(in + blockIdx.x * n);
  int sum = 0;
  for (int k = threadIdx.x; k < 255; k += 32)
    sum += row[k].x + row[k].y + row[k].z + row[k].w;
  for (int step = 16; step > 0; step /= 2)
    sum += __shfl_down_sync(~0u, sum, step);
  if (threadIdx.x == 0)
    out[blockIdx.x] = sum;
}
