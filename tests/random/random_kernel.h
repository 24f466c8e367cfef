#pragma once

#include "grammar/namespaces.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace ptxasw::test {

/// A piece of a kernel's body: lines, then pieces inside, then lines. Any piece may be left out and
/// the text stays valid PTX, which is what shrinking relies on.
struct Piece {
  std::vector<std::string> before;
  std::vector<std::unique_ptr<Piece>> inside;
  std::vector<std::string> after;
  bool fixed = false; ///< the kernel does not stand without it
};

/// A kernel and what may be promised about it (README.md, --assume).
struct RandomKernel {
  std::unique_ptr<Piece> body;
  bool stores_between = true; ///< stores before the last load; without them nothing can alias
  bool wraps = true;          ///< an index may leave its 32 bits
};

/// A small valid kernel: loops, divergence, guards, shared memory, barriers, stores in between, and
/// loads of neighbours of every width by every kind of index, generic or global. Each thread stores
/// what it has computed to places of its own, some kernels where others read, too. With `shared`
/// most loads are of neighbours in shared memory, between stores, barriers and atomics of every
/// kind. The same seed gives the same kernel.
RandomKernel random_kernel(std::uint64_t seed, bool shared = false);

/// The module around a body.
std::string module_text(const Piece &body);

/// The lines of all pieces inside a body.
std::string lines_of(const Piece &body);

/// One more than the largest N of the registers %<letter>N in a text: every warp of every launch
/// has a place for each that is declared.
unsigned registers_named(const std::string &code, char letter);

/// All pieces in order, with the places that own them.
std::vector<std::unique_ptr<Piece> *> removable_pieces(Piece &body);

} // namespace ptxasw::test
