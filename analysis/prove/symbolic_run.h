#pragma once

// One launch of a kernel for all contents of its buffers at once: the machine runs it on some
// numbers, and beside it each result that depends on the buffers' contents is kept as an expression
// of them.

#include "analysis/prove/float_terms.h"
#include "analysis/prove/kernel_paths.h"
#include "emulator/machine/launch_description.h"
#include "emulator/machine/memory_view.h"

#include <array>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

namespace ptxasw::analysis {

/// A stretch of global memory by the name that both kernels have for it.
struct NamedMemory {
  std::string name;
  std::uint64_t address = 0, size = 0; ///< bytes
  ScalarType type = ScalarType::b32;   ///< of the elements whose contents are one unknown each
  bool is_given = false;               ///< its contents are those of the launch, not any
};

/// The unknowns that both kernels share.
class SymbolicInputs {
public:
  explicit SymbolicInputs(FloatTerms &terms) : terms_(terms) {}
  struct Element {
    std::string name;
    std::uint64_t index = 0; ///< in elements
    unsigned bytes = 0;      ///< of one
  };

  /// What an element holds before the launch.
  Expr element(const NamedMemory &memory, std::uint64_t index);
  /// What the order of atomics decides: the `number`-th such value of one of the two kernels.
  Expr undecided(unsigned side, std::size_t number, unsigned width);
  /// Which element a symbol is; null: none, but an undecided value.
  const Element *of(Expr symbol) const;

private:
  FloatTerms &terms_;
  std::map<std::pair<std::string, std::uint64_t>, Expr> elements_;
  std::map<std::tuple<unsigned, std::size_t, unsigned>, Expr> undecided_;
  std::unordered_map<Expr, Element> known_;
};

/// Follows a run. Only what it is told of may be executed; everything else, and control flow or
/// addresses that depend on the data, is an obstacle.
///
/// Why what it finds holds for all contents: no branch, address or guard depends on them, so every
/// run makes the same accesses between the same barriers. If none of them race in this one, none
/// do in any, under any schedule, and what a load gets is what the one store before it wrote.
class SymbolicRun : public WarpObserver {
public:
  /// `side`: 0 or 1. `memory` is the run's own, and is looked at while it runs.
  SymbolicRun(FloatTerms &terms, SymbolicInputs &inputs, unsigned side,
              const PreparedLaunch &launch, GlobalMemory &memory, std::vector<NamedMemory> named);

  void before(const WarpStep &step) override;

  const std::optional<ProofObstacle> &obstacle() const { return obstacle_; }
  /// What lies in global memory; null: nothing that this knows of.
  Expr contents(std::uint64_t address, unsigned bytes);
  /// Which elements of `step` bytes, by number, have been written in part or as a whole.
  std::set<std::uint64_t> written(const NamedMemory &memory, unsigned step) const;

private:
  /// A byte: which one of a value.
  struct Cell {
    Expr value = nullptr; ///< null: what was there before the launch
    std::uint8_t at = 0;
    bool is_written = false;
  };
  static constexpr std::uint64_t page_bytes = 256;
  using Page = std::array<Cell, page_bytes>;
  struct Place {
    std::uint64_t space = 0, number = 0;
    bool operator==(const Place &) const = default;
  };
  struct Hash {
    std::size_t operator()(const Place &place) const {
      return (place.space * 0x9e3779b97f4a7c15 + place.number) * 0xbf58476d1ce4e5b9 >> 7;
    }
  };
  /// A shuffle that a lane has come to.
  struct Shuffle {
    const WarpInstruction *at = nullptr;
    Expr value = nullptr; ///< null: it is the number `bits`
    std::uint64_t bits = 0;
    std::uint32_t choice = 0, clamp = 0, members = 0;
  };
  struct Warp {
    std::vector<Expr> registers; ///< register * 32 + lane; null: not written
    std::array<Shuffle, 32> shuffles;
    std::uint32_t waiting = 0; ///< lanes at a shuffle
  };
  /// An operand: an expression, or a number if that is null.
  struct Operand {
    Expr expr = nullptr;
    std::uint64_t bits = 0;
  };
  /// The instruction's line of the tables.
  struct TableLine {
    const Line<ExprPool> *integer = nullptr;
    const FloatLine<FloatTerms> *real = nullptr;
  };

  void obstruct(const WarpInstruction &in, std::string reason);
  Warp &warp_of(const WarpStep &step);
  Expr &shadow(Warp &warp, const WarpOperand &operand, unsigned lane);
  std::optional<Operand> read(const WarpStep &step, Warp &warp, const WarpOperand &operand,
                              unsigned lane);
  /// Its lowest bits, or with zeros above.
  Expr as_expr(const Operand &operand, unsigned width);
  std::optional<std::uint64_t> number(const WarpStep &step, Warp &warp, const WarpOperand &operand,
                                      unsigned lane, const char *what);
  std::optional<std::uint64_t> address(const WarpStep &step, Warp &warp, unsigned lane);
  void assign(Warp &warp, const WarpOperand &operand, unsigned lane, Expr value, unsigned width,
              bool sign_extends, Expr guard, std::optional<Operand> old);
  void set_number(Warp &warp, const WarpOperand &operand, unsigned lane);
  void execute(const WarpStep &step, Warp &warp, unsigned lane, Expr guard);
  void compute(const WarpStep &step, Warp &warp, unsigned lane, Expr guard);
  void move(const WarpStep &step, Warp &warp, unsigned lane, Expr guard);
  void load(const WarpStep &step, Warp &warp, unsigned lane);
  void store(const WarpStep &step, Warp &warp, unsigned lane);
  void atomic(const WarpStep &step, Warp &warp, unsigned lane);
  void come_to_shuffle(const WarpStep &step, Warp &warp, unsigned lane);
  void complete_shuffles(Warp &warp, std::uint32_t lanes);
  void complete_shuffle(Warp &warp, std::uint32_t group);
  void numbers_only(const WarpStep &step, Warp &warp, unsigned lane);

  std::uint64_t space_key(const WarpStep &step, std::uint64_t address, unsigned lane) const;
  Cell &cell(std::uint64_t space, std::uint64_t address);
  bool begin_with_contents(std::uint64_t address, Cell &cell);
  Expr read_memory(std::uint64_t space, std::uint64_t address, unsigned bytes);
  void write_memory(std::uint64_t space, std::uint64_t address, unsigned bytes, Expr value);

  FloatTerms &terms_;
  SymbolicInputs &inputs_;
  const unsigned side_;
  const PreparedLaunch &launch_;
  GlobalMemory &memory_;
  const std::vector<NamedMemory> named_; ///< by address
  std::unordered_map<std::uint64_t, std::unique_ptr<Warp>> warps_;
  std::unordered_map<Place, std::unique_ptr<Page>, Hash> pages_;
  std::unordered_map<Place, std::uint64_t, Hash> atomics_; ///< by word: which operation it is for
  std::unordered_map<const WarpInstruction *, TableLine> lines_;
  std::size_t undecided_ = 0;
  std::optional<ProofObstacle> obstacle_;
};

} // namespace ptxasw::analysis
