#pragma once

// Which GPU a time is predicted for: what `--gpu` says.

#include "analysis/cost/gpu.h"

#include <string>
#include <tl/expected.hpp>

namespace ptxasw::wrapper {

/// What `--gpu` takes, for help.
inline constexpr const char *gpu_meaning =
    "H100, H200 (measured), A100, L4, RTX4090 and others (documented), a file that "
    "kernelgen-bench/probe has written, or "
    "multiprocessors=84,clock=1.86,bandwidth=936,l2=6 (GHz, GB/s, MiB); otherwise by the target";

/// The GPU that is asked for, or else the first of a target (`sm_90`): one that was measured, by
/// its probe's file or one that is known, or one that is taken for it (cost::gpu_of()). A target in
/// `target` counts where the GPU's own is not known. Errors: a sentence.
tl::expected<cost::Gpu, std::string> choose_gpu(const std::string &asked,
                                                const std::string &target);

} // namespace ptxasw::wrapper
