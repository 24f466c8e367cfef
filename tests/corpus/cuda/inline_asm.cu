// VARIANTS: -arch=sm_75 | -arch=sm_90 | -arch=sm_90 -lineinfo -Xcicc -O0
__device__ unsigned wide(unsigned a, unsigned b) {
  unsigned r;
  asm volatile(
      "{\n\t.reg .pred p;\n\t.reg .u64 r0; // { not a brace\n\tmul.wide.u32 r0, %1, %2;\n\t"
      "setp.ne.u64 p, r0, 0;\n\tselp.u32 %0, 1, %2, p; }"
      : "=r"(r)
      : "r"(a), "r"(b));
  asm("{.reg .u32 t<3>; add.u32 t1,%0,%1;xor.b32 t2,t1,%0;\tmov.u32 %0,t2;}" : "+r"(r) : "n"(42));
  return r;
}

__device__ void spin(const int *p) {
  asm volatile("{\n.reg .pred P;\n.reg .u32 v;\nWAIT_%=:\nld.volatile.global.u32 v, [%0];\n"
               "setp.eq.u32 P, v, 0;\n@P bra WAIT_%=;\n}" ::"l"(p)
               : "memory");
}

__global__ void assembly(unsigned *out, const float4 *in) {
  spin(reinterpret_cast<const int *>(out));
  float a, b, c, d;
  asm("ld.global.nc.v4.f32 {%0,%1,%2,%3}, [%4+16];"
      : "=f"(a), "=f"(b), "=f"(c), "=f"(d)
      : "l"(in + threadIdx.x));
  unsigned lane, mask;
  asm("mov.u32 %0, %%laneid;" : "=r"(lane));
  asm volatile("activemask.b32 %0;" : "=r"(mask));
  asm volatile("{ .reg .pred q; setp.lt.u32 q, %0, 16; @!q bra SKIP_%=; red.global.add.u32 [%1], "
               "%2;\nSKIP_%=: }" ::"r"(lane),
               "l"(out), "r"(mask));
  out[threadIdx.x + 1] = wide(lane, __float_as_uint(a + b + c + d));
}
