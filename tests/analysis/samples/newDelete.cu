// What the sample newDelete does, written anew: threads that put numbers into a container in memory
// that the device allocated. The order of threads decides which place each gets.
//
//   nvcc -ptx -arch=sm_90 newDelete.cu -o newDelete.ptx

#define GLOBAL_X (blockIdx.x * blockDim.x + threadIdx.x)

struct Vector {
  int *data;
  int length;
};

extern "C" __global__ void vector_create(Vector **container, int most) {
  if (GLOBAL_X != 0)
    return;
  Vector *made = new Vector;
  made->data = new int[most];
  made->length = 0;
  *container = made;
}

extern "C" __global__ void container_fill(Vector **container) {
  Vector *to = *container;
  to->data[atomicAdd(&to->length, 1)] = GLOBAL_X;
}

extern "C" __global__ void container_consume(Vector **container, int *out) {
  Vector *from = *container;
  const int place = atomicSub(&from->length, 1) - 1;
  out[GLOBAL_X] = place >= 0 ? from->data[place] : -1;
}

extern "C" __global__ void container_delete(Vector **container) {
  if (GLOBAL_X != 0)
    return;
  delete[] (*container)->data;
  delete *container;
}
