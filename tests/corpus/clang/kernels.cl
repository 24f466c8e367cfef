// VARIANTS: sm_75 ptx63 -O2 | sm_80 ptx70 -O1 | sm_60 ptx50 -Os | sm_35 ptx60 -O3 | sm_80 ptx71 -O1 -gline-tables-only -gdwarf-2
// -O1 -gline-tables-only
#define GID                                                                                        \
  (__nvvm_read_ptx_sreg_tid_x() + __nvvm_read_ptx_sreg_ctaid_x() * __nvvm_read_ptx_sreg_ntid_x())

typedef float float4 __attribute__((ext_vector_type(4)));
typedef struct {
  int a;
  char b[7];
  double c;
} Record;
__constant float table[3] = {1.0f, 0.5f, 0.25f};
__constant Record records[2] = {{1, "abcdef", 2.5}, {3, {1, 2}, -1}};

__kernel void stencil(__global float *out, __global const float *in, int n) {
  const int i = GID;
  if (i > 0 && i < n - 1)
    out[i] = table[0] * in[i] + table[1] * in[i - 1] + table[1] * in[i + 1];
}

__kernel void vectors(__global float4 *out, __global const float4 *in, __local float4 *tile) {
  const int l = __nvvm_read_ptx_sreg_tid_x();
  tile[l] = in[GID].wzyx;
  __nvvm_bar_sync(0);
  out[GID] = tile[31 - l] * 2.0f + in[GID];
}

__attribute__((noinline)) static Record change(Record r, int n) {
  for (int i = 0; i < n; ++i)
    r.c += r.b[i % 7];
  return r;
}

__kernel void structures(__global Record *p, int n) {
  __private Record mine[3];
  for (int i = 0; i < 3; ++i)
    mine[i] = change(p[i + n], n);
  switch (n) {
  case 0:
    p[0] = mine[2];
    break;
  case 1:
    p[1].a = records[GID & 1].a;
    break;
  case 2:
    p[2].c = mine[GID % 3].c;
    break;
  case 3:
    p[3].a++;
    break;
  case 4:
    p[4].b[1] = 3;
    break;
  default:
    p[5].a = -1;
  }
}
