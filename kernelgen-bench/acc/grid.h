/* Indexing shared by every OpenACC kernel of the suite: linear index of point (i, j) in rows of nx
 * points, and of (i, j, k) in planes of ny such rows. Macros, so that a compiler without support
 * for device functions can build the suite; nx and ny are the caller's.
 *
 * Every kernel takes device pointers and has the parameters of its CUDA version, less what that is
 * told of its launch; bounds, types and sums are those of the published OpenACC versions.
 *
 * The pragmas have two forms. As they are, they are the suite's: `acc kernels`, 65535 gangs over
 * the outermost loop, vectors of 512 (128 in gameoflife) over the contiguous one. With ACC_PARALLEL
 * they say `acc parallel loop`, by which GCC 12 spreads the work, too: gangs over the outermost
 * loop, a warp over the contiguous one, and each gang does the loops between by itself. */
#ifndef KERNELGEN_ACC_GRID_H
#define KERNELGEN_ACC_GRID_H

#ifdef ACC_PARALLEL
#define GANGS parallel loop independent gang vector_length(32)
#define BETWEEN seq
#define VECTOR(length) vector
#else
#define GANGS kernels loop independent gang(65535)
#define BETWEEN independent
#define VECTOR(length) vector(length)
#endif

#define AT2(i, j) ((j)*nx + (i))
#define AT3(i, j, k) (((k)*ny + (j)) * nx + (i))

/* The four cubics of an offset t, of the points at -1, 0, 1 and 2 along its axis, in double. */
#define CUBICS(t)                                                                                  \
  {                                                                                                \
    (float)(1.0 / 6.0 * (t) * ((t) + 1.0) * ((t) + 2.0)),                                          \
        (float)(-0.5 * ((t)-1.0) * ((t) + 1.0) * ((t) + 2.0)),                                     \
        (float)(0.5 * ((t)-1.0) * (t) * ((t) + 2.0)),                                              \
        (float)(-1.0 / 6.0 * ((t)-1.0) * (t) * ((t) + 1.0))                                        \
  }

#endif
