// One step of Floyd and Warshall.

extern "C" __global__ void shortest_paths(int nx, int ny, const float *row, const float *column,
                                          float *paths) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const int j = blockIdx.y * blockDim.y + threadIdx.y;
  if (i >= nx || j >= ny)
    return;
  const float through = column[j] + row[i];
  if (through < paths[j * nx + i])
    paths[j * nx + i] = through;
}
