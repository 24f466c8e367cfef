#pragma once

// The inside of random_kernel(): one kernel in the making, shared by
//   random_kernel.cpp    its frame, and which statement comes next
//   generate_access.cpp  indices, addresses, loads and stores
//   generate_flow.cpp    branches, loops, and what lies between loads
//   generate_shared.cpp  tiles of shared memory

#include "random_kernel.h"

#include "emulator/machine/warp_memory.h"

#include <cstdint>
#include <fmt/core.h>
#include <string>
#include <vector>

namespace ptxasw::test {

class Generator {
public:
  Generator(std::uint64_t seed, bool shared);

  RandomKernel kernel();

private:
  std::uint64_t below(std::uint64_t n) { return random_.below(n); }
  bool one_in(std::uint64_t n) { return random_.one_in(n); }
  template <class T> const T &any(const std::vector<T> &list) { return list[below(list.size())]; }

  static Piece &add(Piece &to);
  std::string reg() { return fmt::format("%r{}", registers_++); }
  std::string wide() { return fmt::format("%d{}", wides_++); }
  std::string predicate() { return fmt::format("%p{}", predicates_++); }
  std::string label() { return fmt::format("L{}", labels_++); }

  std::vector<std::string> prologue();

  /// Parameters of their own, or fields of one structure, loaded singly or in pairs as nvcc does.
  std::vector<std::string> load_parameters();

  void choose_index(Piece &body);

  /// Threads beyond n do not take part.
  void guard(Piece &body);

  /// An index: one there is, or one made from it.
  std::string index(Piece &piece);

  /// A number below 64 that is one for a warp, or nearly: voted, broadcast, or loaded from one
  /// place.
  std::string number_of_warp(Piece &piece);

  /// An address with its offset: "%d3+4".
  std::string address(Piece &piece, unsigned scale);
  void use(Piece &piece, const std::string &value);
  std::string condition(Piece &piece);
  void load(Piece &to);

  /// One load of a width, into fresh registers, and its use.
  void load_element(Piece &piece, const std::string &guard_text, const std::string &opcode,
                    unsigned bytes, const std::string &where);

  /// Several neighbours at one place: what a stencil does.
  void stencil(Piece &to);

  /// A store of any width to this thread's own places.
  void own_store(Piece &piece);

  /// Things that do not concern the loads, or do.
  void interlude(Piece &to);

  /// Lanes that leave the kernel in the middle.
  void leave(Piece &to);

  void branch(Piece &to);

  /// Something that brings the lanes of a warp together and computes nothing.
  void bring_together(Piece &piece);

  /// A loop that all lanes leave after equally many meetings, though some skip iterations: behind
  /// a meeting lanes are active together that are in different ones (soundness.md, E1).
  void paced_loop(Piece &to);

  void loop(Piece &to);

  void store(Piece &to);

  void synchronize(Piece &to);

  void change_index(Piece &to);

  /// What every thread finds in shared memory: `tile`, a word of each thread and what lies on
  /// either side, written by barriers apart; `mine`, eight bytes for each thread alone.
  void fill_tile(Piece &body);

  /// The bytes from `tile` on to a word of some thread, below 4 KiB; 32 bits.
  std::string tile_place(Piece &piece);

  /// What a kernel may do to shared memory between two loads of it.
  void shared_interlude(Piece &piece);

  /// Neighbours in shared memory.
  void shared_stencil(Piece &to);

  void statement(Piece &to, unsigned);
  void statements(Piece &to, std::uint64_t count);

  /// Where a kernel stores before it ends.
  enum class Stores : std::uint8_t { none, own, in_place };

  WarpRandom random_;
  bool shared_ = false; ///< most loads are of shared memory
  Stores stores_ = Stores::own;
  bool tame_ = false;    ///< no index comes near the ends of 32 bits
  bool generic_ = false; ///< the address being made is generic
  std::string parameters_;
  std::vector<std::string> counters_; ///< of loops, with what limits them
  unsigned registers_ = 0, wides_ = 0, predicates_ = 0, labels_ = 0, depth_ = 0;
  bool exits_ = false;
  bool scratch_pointers_ = true;
  std::vector<std::string> indices_, pointers_;
};

} // namespace ptxasw::test
