#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace ptxasw::test {

/// A piece of a kernel's body: lines, then pieces inside, then lines. Any piece may be left out and
/// the text stays valid PTX, which is what shrinking lives on.
struct Piece {
  std::vector<std::string> before;
  std::vector<std::unique_ptr<Piece>> inside;
  std::vector<std::string> after;
  bool fixed = false; ///< the kernel does not stand without it
};

/// A small valid kernel: loops, divergence, guards, shared memory, barriers, stores in between, and
/// loads of neighbours by every kind of index. Each thread stores what it has computed to places of
/// its own. The same seed gives the same kernel.
std::unique_ptr<Piece> random_kernel(std::uint64_t seed);

/// The module around a body.
std::string module_text(const Piece &body);

/// All pieces in order, with the places that own them.
std::vector<std::unique_ptr<Piece> *> removable_pieces(Piece &body);

} // namespace ptxasw::test
