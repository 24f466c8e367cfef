#pragma once

#include "grammar/namespaces.h"
#include "suite.h"

namespace ptxasw::conformance {

/// What a register of operands holds.
enum class Format : std::uint8_t { f16, bf16, tf32, f32, f64, e4m3, e5m2, bits };

/// How many kinds of matrices there are.
inline constexpr unsigned characters = 8;
/// The numbers of one register, of a matrix of one of the kinds that tensor_suite() has.
std::uint64_t draw_register(Format format, bool sum, unsigned character, WarpRandom &random);

/// Matrix instructions (PTX ISA 9.7.14) and copies that are not the table's: `mma`, `wmma`,
/// `ldmatrix`, `stmatrix`, `movmatrix`, `cp.async`, `mbarrier`. One kernel each, for blocks of
/// eight warps. Every warp has matrices of a different kind: of moderate numbers, of any exponents,
/// with accumulators far above or below the products, small whole numbers that cancel, infinities
/// and NaNs, subnormals. `blocks`: how many blocks, each with numbers of its own; 1 is what is
/// recorded.
Suite tensor_suite(const std::string &target, unsigned blocks = 1);

} // namespace ptxasw::conformance
