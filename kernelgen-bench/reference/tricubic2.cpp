#include "reference/tricubic.h"

namespace kernelgen {
namespace {

const Registered entry("tricubic2", interpolate_tricubic);

} // namespace
} // namespace kernelgen
