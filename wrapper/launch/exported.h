#pragma once

// The functions that stand in for the driver's, by the names and signatures of cuda.h.

#include "wrapper/launch/driver_types.h"

#define PTXASW_EXPORT __attribute__((visibility("default")))

extern "C" {
PTXASW_EXPORT int cuGetProcAddress(const char *name, void **function, int version,
                                   std::uint64_t flags);
PTXASW_EXPORT int cuGetProcAddress_v2(const char *name, void **function, int version,
                                      std::uint64_t flags, int *status);

PTXASW_EXPORT int cuLaunchKernel(void *function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                                 unsigned block_x, unsigned block_y, unsigned block_z,
                                 unsigned shared_bytes, void *stream, void **parameters,
                                 void **extra);
PTXASW_EXPORT int cuLaunchKernel_ptsz(void *function, unsigned grid_x, unsigned grid_y,
                                      unsigned grid_z, unsigned block_x, unsigned block_y,
                                      unsigned block_z, unsigned shared_bytes, void *stream,
                                      void **parameters, void **extra);
PTXASW_EXPORT int cuLaunchKernelEx(const ptxasw::wrapper::launch::LaunchConfig *config,
                                   void *function, void **parameters, void **extra);
PTXASW_EXPORT int cuLaunchKernelEx_ptsz(const ptxasw::wrapper::launch::LaunchConfig *config,
                                        void *function, void **parameters, void **extra);

PTXASW_EXPORT int cuModuleUnload(void *module);
PTXASW_EXPORT int cuLibraryUnload(void *library);
PTXASW_EXPORT int cuCtxDestroy(void *context);
PTXASW_EXPORT int cuCtxDestroy_v2(void *context);
PTXASW_EXPORT int cuCtxDetach(void *context);
PTXASW_EXPORT int cuDevicePrimaryCtxRelease(int device);
PTXASW_EXPORT int cuDevicePrimaryCtxRelease_v2(int device);
PTXASW_EXPORT int cuDevicePrimaryCtxReset(int device);
PTXASW_EXPORT int cuDevicePrimaryCtxReset_v2(int device);
PTXASW_EXPORT int cuGreenCtxDestroy(void *context);

PTXASW_EXPORT int cuGraphKernelNodeGetParams(void *node,
                                             ptxasw::wrapper::launch::KernelNode *parameters);
PTXASW_EXPORT int cuGraphKernelNodeGetParams_v2(void *node,
                                                ptxasw::wrapper::launch::KernelNode2 *parameters);

PTXASW_EXPORT int cuModuleLoad(void **module, const char *path);
PTXASW_EXPORT int cuModuleLoadData(void **module, const void *image);
PTXASW_EXPORT int cuModuleLoadDataEx(void **module, const void *image, unsigned count, int *options,
                                     void **values);
PTXASW_EXPORT int cuModuleLoadFatBinary(void **module, const void *image);
PTXASW_EXPORT int cuLibraryLoadData(void **library, const void *image, int *jit_options,
                                    void **jit_values, unsigned jit_count, int *library_options,
                                    void **library_values, unsigned library_count);
PTXASW_EXPORT int cuLinkAddData(void *state, int type, void *data, std::size_t size,
                                const char *name, unsigned count, int *options, void **values);
PTXASW_EXPORT int cuLinkAddData_v2(void *state, int type, void *data, std::size_t size,
                                   const char *name, unsigned count, int *options, void **values);

PTXASW_EXPORT int cuStreamCreate(void **stream, unsigned flags);
PTXASW_EXPORT int cuStreamCreateWithPriority(void **stream, unsigned flags, int priority);
PTXASW_EXPORT int cuStreamDestroy(void *stream);
PTXASW_EXPORT int cuStreamDestroy_v2(void *stream);
PTXASW_EXPORT int cuStreamBeginCapture(void *stream);
PTXASW_EXPORT int cuStreamBeginCapture_ptsz(void *stream);
PTXASW_EXPORT int cuStreamBeginCapture_v2(void *stream, int mode);
PTXASW_EXPORT int cuStreamBeginCapture_v2_ptsz(void *stream, int mode);
PTXASW_EXPORT int cuStreamBeginCaptureToGraph(void *stream, void *graph, const void *nodes,
                                              const void *edges, std::size_t count, int mode);
PTXASW_EXPORT int cuStreamBeginCaptureToGraph_ptsz(void *stream, void *graph, const void *nodes,
                                                   const void *edges, std::size_t count, int mode);
PTXASW_EXPORT int cuGraphLaunch(void *graph, void *stream);
PTXASW_EXPORT int cuGraphLaunch_ptsz(void *graph, void *stream);
PTXASW_EXPORT int cuLaunchCooperativeKernel(void *function, unsigned grid_x, unsigned grid_y,
                                            unsigned grid_z, unsigned block_x, unsigned block_y,
                                            unsigned block_z, unsigned shared_bytes, void *stream,
                                            void **parameters);
PTXASW_EXPORT int cuLaunchCooperativeKernel_ptsz(void *function, unsigned grid_x, unsigned grid_y,
                                                 unsigned grid_z, unsigned block_x,
                                                 unsigned block_y, unsigned block_z,
                                                 unsigned shared_bytes, void *stream,
                                                 void **parameters);
}
