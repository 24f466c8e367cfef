# `cpack -G DEB` and `cpack -G TGZ` in the build folder. The packages' names, versions and contents are those
# of `cmake --install`, for /usr; tests/package tries them.
set(CPACK_PACKAGE_NAME ptxasw)
set(CPACK_PACKAGE_VENDOR "the ptxasw authors")
set(CPACK_PACKAGE_CONTACT "${maintainer}")
set(CPACK_PACKAGE_INSTALL_DIRECTORY ptxasw)
set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_COMPONENTS_ALL runtime emulate development)
set(CPACK_ARCHIVE_COMPONENT_INSTALL ON)
set(CPACK_COMPONENTS_GROUPING ONE_PER_GROUP)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS
  OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)

set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_RELEASE ${debian_release})
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_COMPRESSION_TYPE xz)
set(CPACK_DEBIAN_RUNTIME_PACKAGE_NAME ptxasw)
set(CPACK_DEBIAN_RUNTIME_PACKAGE_SECTION devel)
# Z3 is opened at run time if it is there; a CUDA toolkit may be NVIDIA's own, which is no package.
set(CPACK_DEBIAN_RUNTIME_PACKAGE_RECOMMENDS "libz3-4, libptxasw-emulate")
set(CPACK_DEBIAN_RUNTIME_PACKAGE_SUGGESTS "nvidia-cuda-toolkit, libptxasw-dev")
# The first line is the package's synopsis; a summary of the whole would stand before all three.
set(CPACK_DEBIAN_RUNTIME_DESCRIPTION
  "find out why a CUDA kernel is slow, and run a faster version of it\nWorks on the PTX that nvcc, clang, GCC and Triton write, without touching\nthe source. Finding out needs no GPU.")
set(CPACK_DEBIAN_EMULATE_PACKAGE_NAME libptxasw-emulate)
set(CPACK_DEBIAN_EMULATE_PACKAGE_SECTION libs)
file(WRITE ${PROJECT_BINARY_DIR}/triggers "activate-noawait ldconfig\n")
set(CPACK_DEBIAN_EMULATE_PACKAGE_CONTROL_EXTRA ${PROJECT_BINARY_DIR}/triggers)
set(CPACK_DEBIAN_EMULATE_DESCRIPTION
  "run CUDA kernels and programs without a GPU\nThe runtime that `ptxasw check` and `ptxasw run --no-gpu` link programs with,\nand a library with a C interface that runs kernels of a PTX module.")
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_NAME libptxasw-dev)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SHLIBDEPS OFF)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS
  "libantlr4-runtime-dev, libboost-dev, libexpected-dev, libfmt-dev, liblz4-dev, libzstd-dev, libstdc++-12-dev | libstdc++-dev")
set(CPACK_DEBIAN_DEVELOPMENT_DESCRIPTION
  "parse, print, edit and analyse PTX from C++\nC++ headers and static libraries that parse, print and edit PTX, and tell\nwhat each of its instructions accesses, for find_package(ptxasw).")
include(CPack)
