// VARIANTS: -arch=sm_75 | -arch=sm_90 | -arch=sm_90 -G
__global__ void sample(cudaTextureObject_t t, cudaTextureObject_t layered,
                       cudaSurfaceObject_t surface, float4 *out, float x, float y) {
  const int i = threadIdx.x;
  float4 v = tex2D<float4>(t, x + i, y);
  v.x += tex1Dfetch<float>(t, i) + tex3DLod<float>(t, x, y, x, 1.0f);
  v.y += tex2DLayered<float>(layered, x, y, i) + texCubemap<float>(layered, x, y, x);
  v.z += tex2Dgather<float4>(t, x, y, 2).w;
  bool resident;
  v.w += tex2D<float>(t, x, y, &resident);
  v.w += resident ? 1 : tex2DGrad<float>(t, x, y, make_float2(x, y), make_float2(y, x));
  const int old = surf2Dread<int>(surface, i * 4, 3, cudaBoundaryModeClamp);
  surf2Dwrite(make_uchar4(i, old, 2, 3), surface, i * 4, 5, cudaBoundaryModeZero);
  out[i] = v;
}
