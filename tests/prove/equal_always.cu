// Pairs of kernels for `prove` of two inputs without a launch. `always NAME FIRST SECOND WORDS` names two kernels that
// are the same in every launch that the words of `prove` behind them allow, and are proved to be; with `never` in the
// place of `always` they are not the same, or not known to be, and must not be proved.

#define KERNEL extern "C" __global__ void
#define INDEX const int i = blockIdx.x * blockDim.x + threadIdx.x
constexpr unsigned whole_warp = 0xffffffff;

// --- index arithmetic, order of operands, guards

// always axpy-itself axpy axpy
// always axpy-order axpy axpy_order
// always axpy-early-exit axpy axpy_early
// always axpy-predicate axpy axpy_predicate
// always axpy-fused axpy axpy_fused --reals
// never axpy-fused-bits axpy axpy_fused
// never axpy-at-most axpy axpy_at_most
// never axpy-unsigned-guard axpy axpy_unsigned_guard
// always axpy-unsigned-guard-known axpy axpy_unsigned_guard --launch block=64,grid=4 --assume param_3>=0
// never axpy-no-guard axpy axpy_no_guard
// never axpy-other-buffer axpy axpy_other_buffer
// never axpy-one-element-on axpy axpy_on
// never axpy-other-number axpy axpy_double
// never axpy-minus axpy axpy_minus
// never axpy-twice axpy axpy_twice
KERNEL axpy(const float *x, float *y, float a, int n) { INDEX; if (i < n) y[i] = a * x[i] + y[i]; }
KERNEL axpy_order(const float *x, float *y, float a, int n) { const int i = threadIdx.x + blockDim.x * blockIdx.x; if (i < n) y[i] = y[i] + x[i] * a; }
KERNEL axpy_early(const float *x, float *y, float a, int n) { INDEX; if (i >= n) return; const float old = y[i]; y[i] = a * x[i] + old; }
KERNEL axpy_predicate(const float *x, float *y, float a, int n) {
  INDEX;
  if (i < n) asm volatile("{ .reg .pred p; setp.lt.s32 p, %0, %1; @p st.global.f32 [%2], %3; }" ::"r"(i), "r"(n), "l"(y + i), "f"(a * x[i] + y[i]) : "memory");
}
KERNEL axpy_fused(const float *x, float *y, float a, int n) { INDEX; if (i < n) y[i] = fmaf(a, x[i], y[i]); }
KERNEL axpy_at_most(const float *x, float *y, float a, int n) { INDEX; if (i <= n) y[i] = a * x[i] + y[i]; }
KERNEL axpy_unsigned_guard(const float *x, float *y, float a, int n) { INDEX; if (unsigned(i) < unsigned(n)) y[i] = a * x[i] + y[i]; }
KERNEL axpy_no_guard(const float *x, float *y, float a, int n) { INDEX; y[i] = a * x[i] + y[i]; }
KERNEL axpy_other_buffer(const float *x, float *y, float a, int n) { INDEX; if (i < n) y[i] = a * y[i] + x[i]; }
KERNEL axpy_on(const float *x, float *y, float a, int n) { INDEX; if (i < n) y[i] = a * x[i + 1] + y[i]; }
KERNEL axpy_double(const float *x, float *y, float a, int n) { INDEX; if (i < n) y[i] = 2 * a * x[i] + y[i]; }
KERNEL axpy_minus(const float *x, float *y, float a, int n) { INDEX; if (i < n) y[i] = a * x[i] - y[i]; }
KERNEL axpy_twice(const float *x, float *y, float a, int n) { INDEX; if (i < n) { y[i] = a * x[i] + y[i]; y[i] = a * x[i] + y[i]; } }

// always shift-multiply by_product by_shift
// always grid-wide-index by_product by_wide --assume no-wrap,1d
// never grid-wide-index-wraps by_product by_wide
// never shift-too-far by_product by_shift_three
KERNEL by_product(int *y) { const unsigned i = blockIdx.x * 4 + threadIdx.x; y[i * 8] = i * 12; }
KERNEL by_shift(int *y) { const unsigned i = (blockIdx.x << 2) + threadIdx.x; y[i << 3] = (i << 3) + (i << 2); }
KERNEL by_wide(int *y) { const unsigned long long i = blockIdx.x * 4ull + threadIdx.x; y[i * 8] = int(i) * 12; }
KERNEL by_shift_three(int *y) { const unsigned i = (blockIdx.x << 2) + threadIdx.x; y[i << 3] = (i << 3) + (i << 3); }

// always select-branch clamp_branch clamp_select
// always select-min clamp_branch clamp_min
// never select-swapped clamp_branch clamp_swapped
// never clamp-unsigned clamp_branch clamp_unsigned
KERNEL clamp_branch(const int *x, int *y, int n) { INDEX; int v = x[i]; if (v > n) v = n; y[i] = v; }
KERNEL clamp_select(const int *x, int *y, int n) { INDEX; const int v = x[i]; y[i] = v > n ? n : v; }
KERNEL clamp_min(const int *x, int *y, int n) { INDEX; y[i] = min(n, x[i]); }
KERNEL clamp_swapped(const int *x, int *y, int n) { INDEX; y[i] = max(n, x[i]); }
KERNEL clamp_unsigned(const int *x, int *y, int n) { INDEX; y[i] = int(min(unsigned(n), unsigned(x[i]))); }

// always two-ways-meet either_way other_way
// never two-ways-swapped either_way wrong_way
KERNEL either_way(const float *x, const float *y, float *z, int n) { INDEX; float v; if (i < n) v = x[i] * 2; else v = y[i] + 1; z[i] = v; }
KERNEL other_way(const float *x, const float *y, float *z, int n) { INDEX; if (!(n > i)) z[i] = 1 + y[i]; else z[i] = 2 * x[i]; }
KERNEL wrong_way(const float *x, const float *y, float *z, int n) { INDEX; if (n > i) z[i] = 1 + y[i]; else z[i] = 2 * x[i]; }

// --- numbers that are nearly the same

// never plus-zero copy plus_zero
// always times-one-reals copy times_one --reals
// always minus-minus copy minus_minus
// never float-minimum-swapped minimum minimum_swapped
// never sum-order add_left add_right
// always sum-order-reals add_left add_right --reals
// never reals-are-not-all add_left add_left_twice --reals
// always commuted add_left add_commuted
// never divide-multiply by_three times_third
// never divide-zero quotient quotient_zero
// never shift-by-32 shift_clamps shift_wraps
// never halves-round half_down half_zero
// always halves-unsigned half_unsigned half_shift
// never truncated-index narrow_index wide_index
// never low-byte whole_word low_byte
// never wrapping-compare less_sum less_difference
KERNEL copy(const float *x, float *y) { y[threadIdx.x] = x[threadIdx.x]; }
KERNEL plus_zero(const float *x, float *y) { y[threadIdx.x] = __fadd_rn(x[threadIdx.x], 0.0f); }
KERNEL times_one(const float *x, float *y) { float v = x[threadIdx.x], r; asm volatile("mul.rn.f32 %0, %1, 0f3f800000;" : "=f"(r) : "f"(v)); y[threadIdx.x] = r; }
KERNEL minus_minus(const float *x, float *y) { y[threadIdx.x] = __int_as_float(__float_as_int(x[threadIdx.x]) ^ 0 ^ 0x80000000 ^ 0x80000000); }
KERNEL minimum(const float *x, float *y) { y[threadIdx.x] = fminf(x[threadIdx.x], y[threadIdx.x]); }
KERNEL minimum_swapped(const float *x, float *y) { y[threadIdx.x] = fminf(y[threadIdx.x], x[threadIdx.x]); }
KERNEL add_left(const float *x, float *y) { const float *p = x + 3 * threadIdx.x; y[threadIdx.x] = (p[0] + p[1]) + p[2]; }
KERNEL add_right(const float *x, float *y) { const float *p = x + 3 * threadIdx.x; y[threadIdx.x] = p[0] + (p[1] + p[2]); }
KERNEL add_left_twice(const float *x, float *y) { const float *p = x + 3 * threadIdx.x; y[threadIdx.x] = p[0] + (p[1] + p[1]); }
KERNEL add_commuted(const float *x, float *y) { const float *p = x + 3 * threadIdx.x; y[threadIdx.x] = p[2] + (p[1] + p[0]); }
KERNEL by_three(const float *x, float *y) { y[threadIdx.x] = x[threadIdx.x] / 3.0f; }
KERNEL times_third(const float *x, float *y) { y[threadIdx.x] = x[threadIdx.x] * (1.0f / 3.0f); }
KERNEL quotient(const unsigned *x, unsigned *y, unsigned d) { y[threadIdx.x] = x[threadIdx.x] / d; }
KERNEL quotient_zero(const unsigned *x, unsigned *y, unsigned d) { y[threadIdx.x] = d == 0 ? 0xffffffff : x[threadIdx.x] / d; }
KERNEL shift_clamps(const unsigned *x, unsigned *y, unsigned d) { unsigned r; asm volatile("shl.b32 %0, %1, %2;" : "=r"(r) : "r"(x[threadIdx.x]), "r"(d)); y[threadIdx.x] = r; }
KERNEL shift_wraps(const unsigned *x, unsigned *y, unsigned d) { y[threadIdx.x] = __funnelshift_l(0, x[threadIdx.x], d & 31); }
KERNEL half_down(const int *x, int *y) { y[threadIdx.x] = x[threadIdx.x] >> 1; }
KERNEL half_zero(const int *x, int *y) { y[threadIdx.x] = x[threadIdx.x] / 2; }
KERNEL half_unsigned(const unsigned *x, unsigned *y) { y[threadIdx.x] = x[threadIdx.x] / 2; }
KERNEL half_shift(const unsigned *x, unsigned *y) { y[threadIdx.x] = x[threadIdx.x] >> 1; }
KERNEL narrow_index(float *y, int n) { y[(long long)(int(threadIdx.x) * n)] = 1; }
KERNEL wide_index(float *y, int n) { y[(long long)threadIdx.x * n] = 1; }
KERNEL whole_word(const int *x, int *y) { y[threadIdx.x] = x[threadIdx.x]; }
KERNEL low_byte(const int *x, int *y) { reinterpret_cast<char *>(y)[4 * threadIdx.x] = char(x[threadIdx.x]); }
KERNEL less_sum(int *y, unsigned a, unsigned b) { if (threadIdx.x + a < b) y[threadIdx.x] = 1; }
KERNEL less_difference(int *y, unsigned a, unsigned b) { if (threadIdx.x < b - a) y[threadIdx.x] = 1; }

// --- loops

// always rows-pointer rows rows_pointer
// always rows-not-equal rows rows_not_equal
// always rows-wide rows rows_wide --assume no-wrap
// always rows-unrolled rows rows_unrolled --assume no-wrap
// always rows-while rows rows_while
// never rows-backwards rows rows_backwards
// never rows-begins-late rows rows_late
// never rows-ends-early rows rows_early
// never rows-ends-late rows rows_ends_late
// never rows-at-least-once rows rows_once
// never rows-unsigned-count rows rows_unsigned
// always rows-unsigned-count-known rows rows_unsigned --assume no-wrap,param_3>=0
// never rows-by-two rows rows_by_two
// never rows-other-stride rows rows_stride
// never rows-other-start rows rows_start
// never rows-for-ever rows rows_for_ever
KERNEL rows(const float *x, float *y, int n, int m) { INDEX; if (i >= n) return; float s = 0;
#pragma unroll 1
  for (int k = 0; k < m; ++k) s += x[i * m + k]; y[i] = s; }
KERNEL rows_pointer(const float *x, float *y, int n, int m) { INDEX; if (i >= n) return; float s = 0; const float *p = x + i * m;
#pragma unroll 1
  for (int k = 0; k < m; ++k) s += *p++; y[i] = s; }
KERNEL rows_not_equal(const float *x, float *y, int n, int m) { INDEX; if (i >= n) return; float s = 0; const float *p = x + i * m;
  if (m > 0)
#pragma unroll 1
    for (int k = 0; k != m; ++k) s += *p++; y[i] = s; }
KERNEL rows_wide(const float *x, float *y, int n, int m) { INDEX; if (i >= n) return; float s = 0;
#pragma unroll 1
  for (long long k = 0; k < m; ++k) s += x[(long long)i * m + k]; y[i] = s; }
KERNEL rows_unrolled(const float *x, float *y, int n, int m) { INDEX; if (i >= n) return; float s = 0;
#pragma unroll 4
  for (int k = 0; k < m; ++k) s += x[i * m + k]; y[i] = s; }
KERNEL rows_while(const float *x, float *y, int n, int m) { INDEX; if (i < n) { float s = 0; int k = 0;
#pragma unroll 1
  while (m > k) { s = x[k + m * i] + s; k += 1; } y[i] = s; } }
KERNEL rows_backwards(const float *x, float *y, int n, int m) { INDEX; if (i >= n) return; float s = 0;
#pragma unroll 1
  for (int k = m - 1; k >= 0; --k) s += x[i * m + k]; y[i] = s; }
KERNEL rows_late(const float *x, float *y, int n, int m) { INDEX; if (i >= n) return; float s = 0;
#pragma unroll 1
  for (int k = 1; k < m; ++k) s += x[i * m + k]; y[i] = s; }
KERNEL rows_early(const float *x, float *y, int n, int m) { INDEX; if (i >= n) return; float s = 0;
#pragma unroll 1
  for (int k = 0; k < m - 1; ++k) s += x[i * m + k]; y[i] = s; }
KERNEL rows_ends_late(const float *x, float *y, int n, int m) { INDEX; if (i >= n) return; float s = 0;
#pragma unroll 1
  for (int k = 0; k <= m; ++k) s += x[i * m + k]; y[i] = s; }
KERNEL rows_once(const float *x, float *y, int n, int m) { INDEX; if (i >= n) return; float s = 0; int k = 0;
#pragma unroll 1
  do s += x[i * m + k]; while (++k < m); y[i] = s; }
KERNEL rows_unsigned(const float *x, float *y, int n, int m) { INDEX; if (i >= n) return; float s = 0;
#pragma unroll 1
  for (unsigned k = 0; k < unsigned(m); ++k) s += x[i * m + k]; y[i] = s; }
KERNEL rows_by_two(const float *x, float *y, int n, int m) { INDEX; if (i >= n) return; float s = 0;
#pragma unroll 1
  for (int k = 0; k < m; k += 2) s += x[i * m + k]; y[i] = s; }
KERNEL rows_stride(const float *x, float *y, int n, int m) { INDEX; if (i >= n) return; float s = 0;
#pragma unroll 1
  for (int k = 0; k < m; ++k) s += x[i * n + k]; y[i] = s; }
KERNEL rows_start(const float *x, float *y, int n, int m) { INDEX; if (i >= n) return; float s = 1;
#pragma unroll 1
  for (int k = 0; k < m; ++k) s += x[i * m + k]; y[i] = s; }
KERNEL rows_for_ever(const float *x, float *y, int n, int m) { INDEX; if (i >= n) return; float s = 0;
#pragma unroll 1
  for (int k = 0; k < m; ++k) s += x[i * m + k]; volatile float *z = y; while (m == 7) z[i] = 0; y[i] = s; }

// always grid-stride grid_stride grid_stride_pointer --assume no-wrap
// never grid-stride-other grid_stride grid_stride_block
KERNEL grid_stride(const float *x, float *y, int n) {
#pragma unroll 1
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) y[i] = 2 * x[i]; }
KERNEL grid_stride_pointer(const float *x, float *y, int n) { INDEX; const int step = gridDim.x * blockDim.x;
#pragma unroll 1
  for (int k = i; k < n; k += step) y[k] = x[k] + x[k]; }
KERNEL grid_stride_block(const float *x, float *y, int n) {
#pragma unroll 1
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x) y[i] = 2 * x[i]; }

// always nested-loops product product_pointers --assume no-wrap
// never nested-loops-swapped product product_swapped --assume no-wrap
// always known-count-unrolled eight eight_unrolled
// always known-count-halves eight eight_halves
// never known-count-seven eight seven
KERNEL product(const float *a, const float *b, float *c, int n) {
  const int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
#pragma unroll 1
  for (int r = 0; r < 2; ++r) { float s = 0;
#pragma unroll 1
    for (int k = 0; k < n; ++k) s += a[y * n + k] * b[k * n + x]; c[(r * n + y) * n + x] = s; } }
KERNEL product_pointers(const float *a, const float *b, float *c, int n) {
  const int x = threadIdx.x + (blockIdx.x << 4), y = threadIdx.y + (blockIdx.y << 4);
#pragma unroll 1
  for (int r = 0; r < 2; ++r) { float s = 0; const float *p = a + y * n, *q = b + x;
#pragma unroll 1
    for (int k = 0; k < n; ++k) { s += *q * *p; ++p; q += n; } c[x + n * (y + r * n)] = s; } }
KERNEL product_swapped(const float *a, const float *b, float *c, int n) {
  const int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
#pragma unroll 1
  for (int r = 0; r < 2; ++r) { float s = 0;
#pragma unroll 1
    for (int k = 0; k < n; ++k) s += b[y * n + k] * a[k * n + x]; c[(r * n + y) * n + x] = s; } }
KERNEL eight(const float *x, float *y) { float s = 0;
#pragma unroll 1
  for (int k = 0; k < 8; ++k) s += x[threadIdx.x * 8 + k]; y[threadIdx.x] = s; }
KERNEL eight_unrolled(const float *x, float *y) { float s = 0;
#pragma unroll
  for (int k = 0; k < 8; ++k) s += x[threadIdx.x * 8 + k]; y[threadIdx.x] = s; }
KERNEL eight_halves(const float *x, float *y) { float s = 0; const float *p = x + threadIdx.x * 8;
#pragma unroll 1
  for (int k = 0; k < 4; ++k) { s += *p++; s += *p++; } y[threadIdx.x] = s; }
KERNEL seven(const float *x, float *y) { float s = 0;
#pragma unroll
  for (int k = 0; k < 7; ++k) s += x[threadIdx.x * 8 + k]; y[threadIdx.x] = s; }

// --- what memory holds

// always read-again read_once read_twice
// never read-before-store read_before read_after
// never stores-swapped first_then_second second_then_first
// always known-apart apart_early apart_late
// always what-was-written forward_load forward_value
// always shared-pointers hoisted hoisted_not --assume disjoint
// never shared-pointers-alias hoisted hoisted_not
KERNEL read_once(const float *x, float *y) { const float v = x[threadIdx.x]; y[threadIdx.x] = v * v; }
KERNEL read_twice(const float *x, float *y) { float v; asm volatile("ld.global.f32 %0, [%1];" : "=f"(v) : "l"(x + threadIdx.x)); y[threadIdx.x] = x[threadIdx.x] * v; }
KERNEL read_before(float *x, float *y) { const float v = x[threadIdx.x]; y[threadIdx.x] = 1; y[threadIdx.x + 1024] = v; }
KERNEL read_after(float *x, float *y) { y[threadIdx.x] = 1; y[threadIdx.x + 1024] = x[threadIdx.x]; }
KERNEL first_then_second(float *x, float *y) { x[threadIdx.x] = 1; y[threadIdx.x] = 2; }
KERNEL second_then_first(float *x, float *y) { y[threadIdx.x] = 2; x[threadIdx.x] = 1; }
KERNEL apart_early(float *y) { float *p = y + 2 * threadIdx.x; const float v = p[1]; p[0] = 3; p[1] = v + 1; }
KERNEL apart_late(float *y) { float *p = y + 2 * threadIdx.x; p[0] = 3; p[1] = p[1] + 1; }
KERNEL forward_load(float *y, float a) { y[threadIdx.x] = a; float v; asm volatile("ld.global.f32 %0, [%1];" : "=f"(v) : "l"(y + threadIdx.x) : "memory"); y[threadIdx.x + 1024] = v; }
KERNEL forward_value(float *y, float a) { y[threadIdx.x] = a; y[threadIdx.x + 1024] = a; }
KERNEL hoisted(const float *x, float *y) { const float v = x[0]; y[2 * threadIdx.x] = 1; y[2 * threadIdx.x + 1] = v; }
KERNEL hoisted_not(const float *x, float *y) { y[2 * threadIdx.x] = x[0]; y[2 * threadIdx.x] = 1; y[2 * threadIdx.x + 1] = x[0]; }

// --- blocks

// always reduction-unrolled reduce reduce_unrolled --launch block=256
// always reduction-sequence reduce reduce_shift
// never reduction-no-barrier reduce reduce_bare
// never reduction-barrier-first reduce reduce_early
// never reduction-own-cell reduce reduce_own
// never reduction-half reduce reduce_half
// never reduction-strict reduce reduce_strict
// always stencil-subexpression stencil stencil_shared_sum --reals
// always stencil-tile tile_before tile_after
// never stencil-tile-neighbour tile_before tile_neighbour
KERNEL reduce(const float *x, float *y) { __shared__ float t[256]; t[threadIdx.x] = x[blockIdx.x * 256 + threadIdx.x]; __syncthreads();
#pragma unroll 1
  for (int d = 128; d > 0; d /= 2) { if (threadIdx.x < d) t[threadIdx.x] += t[threadIdx.x + d]; __syncthreads(); } if (threadIdx.x == 0) y[blockIdx.x] = t[0]; }
KERNEL reduce_unrolled(const float *x, float *y) { __shared__ float t[256]; t[threadIdx.x] = x[(blockIdx.x << 8) | threadIdx.x]; __syncthreads();
#pragma unroll
  for (int d = 128; d > 0; d >>= 1) { if (threadIdx.x < d) t[threadIdx.x] += t[threadIdx.x + d]; __syncthreads(); } if (threadIdx.x == 0) y[blockIdx.x] = t[0]; }
KERNEL reduce_shift(const float *x, float *y) { __shared__ float t[256]; t[threadIdx.x] = x[threadIdx.x + (blockIdx.x << 8)]; __syncthreads();
#pragma unroll 1
  for (int d = 128; d > 0; d /= 2) { if (threadIdx.x < d) t[threadIdx.x] = t[threadIdx.x + d] + t[threadIdx.x]; __syncthreads(); } if (threadIdx.x == 0) y[blockIdx.x] = t[0]; }
KERNEL reduce_bare(const float *x, float *y) { __shared__ float t[256]; t[threadIdx.x] = x[blockIdx.x * 256 + threadIdx.x]; __syncthreads();
#pragma unroll 1
  for (int d = 128; d > 0; d /= 2) { if (threadIdx.x < d) t[threadIdx.x] += t[threadIdx.x + d]; } if (threadIdx.x == 0) y[blockIdx.x] = t[0]; }
KERNEL reduce_early(const float *x, float *y) { __shared__ float t[256]; __syncthreads(); t[threadIdx.x] = x[blockIdx.x * 256 + threadIdx.x];
#pragma unroll 1
  for (int d = 128; d > 0; d /= 2) { if (threadIdx.x < d) t[threadIdx.x] += t[threadIdx.x + d]; __syncthreads(); } if (threadIdx.x == 0) y[blockIdx.x] = t[0]; }
KERNEL reduce_own(const float *x, float *y) { __shared__ float t[256]; t[threadIdx.x] = x[blockIdx.x * 256 + threadIdx.x]; __syncthreads();
#pragma unroll 1
  for (int d = 128; d > 0; d /= 2) { if (threadIdx.x < d) t[threadIdx.x] += t[threadIdx.x]; __syncthreads(); } if (threadIdx.x == 0) y[blockIdx.x] = t[0]; }
KERNEL reduce_half(const float *x, float *y) { __shared__ float t[256]; t[threadIdx.x] = x[blockIdx.x * 256 + threadIdx.x]; __syncthreads();
#pragma unroll 1
  for (int d = 64; d > 0; d /= 2) { if (threadIdx.x < d) t[threadIdx.x] += t[threadIdx.x + d]; __syncthreads(); } if (threadIdx.x == 0) y[blockIdx.x] = t[0]; }
KERNEL reduce_strict(const float *x, float *y) { __shared__ float t[256]; t[threadIdx.x] = x[blockIdx.x * 256 + threadIdx.x]; __syncthreads();
#pragma unroll 1
  for (int d = 128; d > 1; d /= 2) { if (threadIdx.x < d) t[threadIdx.x] += t[threadIdx.x + d]; __syncthreads(); } if (threadIdx.x == 0) y[blockIdx.x] = t[0]; }
KERNEL stencil(const float *x, float *y, int n) { INDEX; if (i > 0 && i < n - 1) y[i] = 0.25f * x[i - 1] + 0.5f * x[i] + 0.25f * x[i + 1]; }
KERNEL stencil_shared_sum(const float *x, float *y, int n) { INDEX; if (i <= 0 || i >= n - 1) return; y[i] = 0.25f * (x[i - 1] + x[i + 1]) + 0.5f * x[i]; }
KERNEL tile_before(const float *x, float *y) { __shared__ float t[258]; INDEX; t[threadIdx.x] = x[i]; __syncthreads(); y[i] = t[threadIdx.x ^ 1] + t[threadIdx.x]; }
KERNEL tile_after(const float *x, float *y) { __shared__ float t[258]; INDEX; const float v = x[i]; t[threadIdx.x] = v; __syncthreads(); const float w = t[threadIdx.x]; y[i] = w + t[threadIdx.x ^ 1]; }
KERNEL tile_neighbour(const float *x, float *y) { __shared__ float t[258]; INDEX; t[threadIdx.x] = x[i]; const float w = t[threadIdx.x ^ 1]; __syncthreads(); y[i] = w + t[threadIdx.x]; }

// always atomics-same counts counts_shift
// never atomics-order counts_then_maximum maximum_then_counts
// never atomic-plain counts counts_plain
// never atomic-other counts counts_maximum
// always shuffle-same shuffled shuffled_order
// never shuffle-other-lane shuffled shuffled_far
// never shuffle-two-places shuffled shuffled_apart
// never barrier-two-places waits waits_apart
KERNEL counts(const int *x, int *y) { atomicAdd(y + (x[threadIdx.x] & 63), 2); }
KERNEL counts_shift(const int *x, int *y) { atomicAdd(y + (unsigned(x[threadIdx.x]) & 63u), 1 << 1); }
KERNEL counts_then_maximum(const int *x, int *y) { atomicAdd(y, x[threadIdx.x]); atomicMax(y, 5); }
KERNEL maximum_then_counts(const int *x, int *y) { atomicMax(y, 5); atomicAdd(y, x[threadIdx.x]); }
KERNEL counts_plain(const int *x, int *y) { y[x[threadIdx.x] & 63] += 2; }
KERNEL counts_maximum(const int *x, int *y) { atomicMax(y + (x[threadIdx.x] & 63), 2); }
KERNEL shuffled(const float *x, float *y) { const float v = x[threadIdx.x]; y[threadIdx.x] = v + __shfl_down_sync(whole_warp, v, 2); }
KERNEL shuffled_order(const float *x, float *y) { const float v = x[threadIdx.x]; const float w = __shfl_down_sync(whole_warp, v, 2); y[threadIdx.x] = w + v; }
KERNEL shuffled_far(const float *x, float *y) { const float v = x[threadIdx.x]; y[threadIdx.x] = v + __shfl_down_sync(whole_warp, v, 4); }
KERNEL shuffled_apart(const float *x, float *y) { const float v = x[threadIdx.x]; float w; if (threadIdx.x & 1) { w = __shfl_down_sync(whole_warp, v, 2); asm volatile(""); } else w = __shfl_down_sync(whole_warp, v, 2); y[threadIdx.x] = v + w; }
KERNEL waits(int *y) { y[threadIdx.x] = 1; __syncthreads(); y[threadIdx.x ^ 1] = 2; }
KERNEL waits_apart(int *y) { y[threadIdx.x] = 1; if (threadIdx.x & 1) asm volatile("bar.sync 0; // odd" ::: "memory"); else asm volatile("bar.sync 0; // even" ::: "memory"); y[threadIdx.x ^ 1] = 2; }

// What `disjoint` says of parameters it does not say of pointers that are chosen or loaded, and what `no-wrap` says of
// indices it does not say of masks.
// never pointer-chosen chosen_again chosen_once --assume disjoint
// never pointer-loaded loaded_again loaded_once --assume disjoint
// never pointer-in-halves halves_again halves_once --assume disjoint
// never masked masked not_masked --assume no-wrap
KERNEL chosen_again(char *o, char *x, size_t n, int m) { INDEX; if (i != 0) return; char *p = m != 0 ? o : x;
  const char a = p[n]; o[0] = 7; x[64] = a + p[n]; }
KERNEL chosen_once(char *o, char *x, size_t n, int m) { INDEX; if (i != 0) return; char *p = m != 0 ? o : x;
  const char a = p[n]; o[0] = 7; x[64] = a + a; }
KERNEL loaded_again(char *o, char **x, size_t n) { INDEX; if (i != 0) return; const char a = x[0][n]; o[0] = 7; o[64] = a + x[0][n]; }
KERNEL loaded_once(char *o, char **x, size_t n) { INDEX; if (i != 0) return; const char a = x[0][n]; o[0] = 7; o[64] = a + a; }
KERNEL halves_again(char *o, int low, int high, size_t n) { INDEX; if (i != 0) return;
  char *p = reinterpret_cast<char *>(static_cast<size_t>(high) << 32 | static_cast<unsigned>(low)); const char a = p[n]; o[0] = 7; o[64] = a + p[n]; }
KERNEL halves_once(char *o, int low, int high, size_t n) { INDEX; if (i != 0) return;
  char *p = reinterpret_cast<char *>(static_cast<size_t>(high) << 32 | static_cast<unsigned>(low)); const char a = p[n]; o[0] = 7; o[64] = a + a; }
KERNEL masked(char *o, size_t n) { INDEX; if (i == 0) o[n & 0xffffffffu] = 1; }
KERNEL not_masked(char *o, size_t n) { INDEX; if (i == 0) o[n] = 1; }
