// Bits: hashes, division by what is not known, big numbers, byte permutations, dot products.
extern "C" __global__ void sha256(const unsigned *in, unsigned *out) {
  static const unsigned k[16] = {0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5,
                                 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
                                 0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3,
                                 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174};
  const auto turn = [](unsigned x, int n) { return __funnelshift_r(x, x, n); };
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned w[16], h[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                          0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  for (int t = 0; t < 16; ++t)
    w[t] = in[(i * 16 + t) % 1024];
  for (int t = 0; t < 64; ++t) {
    if (t >= 16) {
      const unsigned a = w[(t + 1) & 15], b = w[(t + 14) & 15];
      w[t & 15] += (turn(a, 7) ^ turn(a, 18) ^ a >> 3) + w[(t + 9) & 15] +
                   (turn(b, 17) ^ turn(b, 19) ^ b >> 10);
    }
    const unsigned t1 = h[7] + (turn(h[4], 6) ^ turn(h[4], 11) ^ turn(h[4], 25)) +
                        ((h[4] & h[5]) ^ (~h[4] & h[6])) + k[t & 15] + w[t & 15];
    const unsigned t2 = (turn(h[0], 2) ^ turn(h[0], 13) ^ turn(h[0], 22)) +
                        ((h[0] & h[1]) ^ (h[0] & h[2]) ^ (h[1] & h[2]));
    for (int j = 7; j > 0; --j)
      h[j] = h[j - 1];
    h[4] += t1;
    h[0] = t1 + t2;
  }
  for (int j = 0; j < 8; ++j)
    out[i * 8 + j] = h[j];
}

extern "C" __global__ void divisions(const int *in, long long *out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const int a = in[2 * i], b = in[2 * i + 1] | 1;
  const long long c = static_cast<long long>(a) << 20 ^ b, d = b * 77ll + 1;
  out[6 * i] = a / b;
  out[6 * i + 1] = a % b;
  out[6 * i + 2] = c / d;
  out[6 * i + 3] = c % d;
  out[6 * i + 4] = static_cast<unsigned long long>(c) / static_cast<unsigned>(b);
  out[6 * i + 5] = static_cast<unsigned long long>(c) % static_cast<unsigned long long>(d);
}

// 256-bit products by carries.
extern "C" __global__ void long_products(const unsigned *in, unsigned *out) {
  const unsigned i = (blockIdx.x * blockDim.x + threadIdx.x) * 4;
  unsigned a[4], r[8] = {};
  for (int j = 0; j < 4; ++j)
    a[j] = in[i + j];
  for (int j = 0; j < 4; ++j) {
    asm("mad.lo.cc.u32 %0, %5, %9, %0;\n\tmadc.lo.cc.u32 %1, %6, %9, %1;\n\t"
        "madc.lo.cc.u32 %2, %7, %9, %2;\n\tmadc.lo.cc.u32 %3, %8, %9, %3;\n\t"
        "addc.u32 %4, %4, 0;"
        : "+r"(r[j]), "+r"(r[j + 1]), "+r"(r[j + 2]), "+r"(r[j + 3]), "+r"(r[j + 4])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(a[j]));
    asm("mad.hi.cc.u32 %0, %4, %8, %0;\n\tmadc.hi.cc.u32 %1, %5, %8, %1;\n\t"
        "madc.hi.cc.u32 %2, %6, %8, %2;\n\tmadc.hi.u32 %3, %7, %8, %3;"
        : "+r"(r[j + 1]), "+r"(r[j + 2]), "+r"(r[j + 3]), "+r"(r[j + 4])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(a[j]));
  }
  for (int j = 0; j < 8; ++j)
    out[2 * i + j] = r[j];
}

extern "C" __global__ void bytes(const unsigned *in, unsigned *out) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  const unsigned a = in[2 * i], b = in[2 * i + 1];
  out[8 * i] = __byte_perm(a, b, b);
  out[8 * i + 1] = __dp4a(static_cast<int>(a), static_cast<int>(b), 5);
  out[8 * i + 2] = __vadd4(a, b) ^ __vsub2(a, b);
  out[8 * i + 3] = __vabsdiffu4(a, b) + __vmaxs2(a, b);
  out[8 * i + 4] = __brev(a) ^ __clz(b) ^ __popc(a);
  out[8 * i + 5] = __umulhi(a, b) + __mul24(a, b) + __sad(a, b, 1);
  out[8 * i + 6] = __ffs(a) + __clzll(static_cast<long long>(a) << 7);
  out[8 * i + 7] = __vcmpgts2(a, b) ^ __vsetltu4(a, b) ^ __vavgu4(a, b);
}

// Calls that stay calls, recursion, a switch with a table.
__device__ __noinline__ unsigned ackermann(unsigned m, unsigned n) {
  return m == 0 ? n + 1 : n == 0 ? ackermann(m - 1, 1) : ackermann(m - 1, ackermann(m, n - 1));
}
extern "C" __global__ void calls(const unsigned *in, unsigned *out) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x, x = in[i];
  unsigned r = 0;
  switch (x % 7) {
  case 0: r = ackermann(2, x % 5); break;
  case 1: r = x * x + 3; break;
  case 2: r = __brev(x) % 1000; break;
  case 3: r = ackermann(1, x % 9) * 2; break;
  case 4: r = x / 9 - x % 5; break;
  case 5: r = ~x >> 5; break;
  default: r = x << 3 | 1;
  }
  out[i] = r;
}
