#pragma once
extern __device__ int common_number;
__device__ int twice(int x);
__global__ void in_other_part(int *to);
