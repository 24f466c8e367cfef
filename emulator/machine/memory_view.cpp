// Memory as a lane sees it: state spaces, bounds, alignment, and what is checked and noted of each
// access. What none of that is asked for goes straight to the bytes (quick_location).

#include "emulator/machine/memory_view.h"

#include "emulator/semantics/banks.h"

#include <algorithm>
#include <cstring>
#include <fmt/core.h>
#include <set>

namespace ptxasw::emulator {
namespace {

bool within(std::uint64_t address, std::uint64_t window) {
  return address >= window && address < window + window::size;
}

/// If a store leaves the real number that is there, however either was rounded; nothing: it is not
/// known of both.
std::optional<bool> leaves_real(ExactReal before, ExactReal stored, const std::uint8_t *bytes,
                                unsigned size) {
  if (!stored.known() || bit_width(stored.type()) != 8 * size)
    return std::nullopt;
  if (before.type() != stored.type()) {
    std::uint64_t bits = 0;
    std::memcpy(&bits, bytes, size);
    before = ExactReal::of(stored.type(), bits);
  }
  return before.known() ? std::optional(stored.equals(before)) : std::nullopt;
}

} // namespace

StateSpace space_of(std::uint64_t address) {
  return within(address, window::shared)  ? StateSpace::shared
         : within(address, window::local) ? StateSpace::local
         : within(address, window::param) ? StateSpace::param
                                          : StateSpace::global;
}

MemoryView::MemoryView(MachineRun &run, GlobalMemory &memory) : run_(run), memory_(memory) {}

void MemoryView::refuse(const WarpContext &context, unsigned lane, FaultKind kind,
                        const std::string &message, std::uint64_t address) {
  if (!run_.options.go_on)
    context.fail(kind, lane, message, address);
  note(context, kind, 0, [&] { return place(context, kind, lane, message, address); });
}

std::uint8_t *MemoryView::locate(const WarpContext &context, unsigned lane, std::uint64_t address,
                                 unsigned size, StateSpace space, const std::uint64_t *stored,
                                 ExactReal real) {
  const bool is_store = stored != nullptr;
  const char *const what = is_store ? "store" : "load";
  const auto wrong = [&](FaultKind kind, const std::string &message) {
    refuse(context, lane, kind, message, address);
    nowhere_.fill(0);
    return nowhere_.data();
  };
  const auto outside = [&] {
    return wrong(FaultKind::out_of_bounds, fmt::format("{} of {} bytes at {:#x} of {} memory", what,
                                                       size, address, to_string(space)));
  };
  if (address % size != 0)
    return wrong(FaultKind::misaligned,
                 fmt::format("{} of {} bytes at {:#x}", what, size, address));
  const StateSpace actual = space_of(address);
  if (space != StateSpace::generic && actual != space &&
      !(actual == StateSpace::global && space == StateSpace::constant))
    return outside();
  const auto never_written = [&] {
    const std::string message =
        fmt::format("load of {} bytes at {:#x} of {} memory that was never written", size, address,
                    to_string(actual));
    if (!run_.options.go_on_uninitialized)
      wrong(FaultKind::uninitialized, message);
    else if (!run_.outcome.uninitialized)
      run_.outcome.uninitialized = place(context, FaultKind::uninitialized, lane, message, address);
  };
  // Reads of what was never written; stores record what was.
  const auto note_written = [&](std::vector<std::uint8_t> &written, std::uint64_t offset) {
    if (written.empty())
      return;
    if (is_store)
      std::memset(written.data() + offset, 1, size);
    else if (std::find(written.data() + offset, written.data() + offset + size, 0) !=
             written.data() + offset + size)
      never_written();
  };
  ExactReal before;
  if (ExactMemory *const reals = run_.options.reals; reals && is_store) {
    const ExactMemory::Space of = context.real_space(lane, address);
    before = reals->load(of, address, size);
    reals->store(of, address, size, real);
  }
  switch (actual) {
  case StateSpace::shared: {
    const auto [block, offset] = run_.shared_place(*context.warp->block, address);
    if (!block)
      return wrong(FaultKind::out_of_bounds,
                   fmt::format("{} of {} bytes at {:#x}, in the shared memory of a block that is "
                               "not in the cluster, has not started or has ended",
                               what, size, address));
    if (!is_shared_variable(offset, size))
      return outside();
    std::uint8_t *bytes = block->shared.data() + offset;
    note_written(block->shared_written, offset);
    if (run_.races)
      check_race(context, lane, window::shared + offset, bytes, size, block->index + 1,
                 reinterpret_cast<const std::uint8_t *>(stored),
                 leaves_real(before, real, bytes, size));
    return bytes;
  }
  case StateSpace::local: {
    const std::uint64_t depth =
        run_.max_local == 0 ? 0 : (address - window::local) / run_.max_local;
    if (depth > context.depth || run_.max_local == 0)
      return outside();
    const std::uint64_t offset = (address - window::local) % run_.max_local;
    const auto &variables = run_.program.function(context.function_at(lane, depth)).locals;
    if (std::none_of(variables.begin(), variables.end(), [&](const VariableBytes &variable) {
          return offset >= variable.begin && offset + size <= variable.end;
        }))
      return outside();
    CallLevel &owner = context.warp->levels[depth];
    const std::uint64_t base = std::uint64_t{lane} * run_.max_local;
    std::uint8_t *bytes = owner.local.data() + base + offset;
    note_written(owner.local_written, base + offset);
    return bytes;
  }
  case StateSpace::param: {
    const std::uint64_t offset = address - window::param;
    if (is_store || offset + size > run_.launch.parameters.size())
      return outside();
    return const_cast<std::uint8_t *>(run_.launch.parameters.data()) + offset;
  }
  default:
    break;
  }
  const GlobalMemory::Allocation *allocation = memory_.find(address, size);
  if (!allocation)
    return outside();
  if (is_store && allocation->read_only)
    return wrong(FaultKind::read_only, fmt::format("store of {} bytes at {:#x}, in `{}`", size,
                                                   address, allocation->name));
  if (run_.options.check_uninitialized && is_store)
    memory_.define(address, size);
  else if (run_.options.check_uninitialized && !memory_.is_defined(address, size))
    never_written();
  if (run_.options.watch != 0 && is_store && run_.options.watch - address < size)
    run_.outcome.watched = context.place(FaultKind::race, lane, "store", address);
  if (run_.options.note_touched)
    memory_.note_touched(address, size);
  if (run_.options.allowed && !is_store && !is_allowed(address, size))
    context.fail(
        FaultKind::out_of_bounds, lane,
        fmt::format("load of {} bytes at {:#x}, which the original never accesses", size, address),
        address);
  std::uint8_t *bytes = memory_.bytes(address, is_store);
  memory_.track(address, size, is_store);
  if (run_.races)
    check_race(context, lane, address, bytes, size, 0,
               reinterpret_cast<const std::uint8_t *>(stored),
               leaves_real(before, real, bytes, size));
  return bytes;
}

const std::uint8_t *MemoryView::launch_parameter(const WarpInstruction &in, unsigned size) const {
  if (in.address.base.kind != WarpOperand::Kind::immediate || run_.options.reals ||
      (in.space != StateSpace::param && in.space != StateSpace::generic))
    return nullptr;
  const std::uint64_t address =
      in.address.base.value + static_cast<std::uint64_t>(in.address.offset);
  const std::uint64_t offset = address - window::param;
  const auto &parameters = run_.launch.parameters;
  return address % size == 0 && offset < parameters.size() && parameters.size() - offset >= size
             ? parameters.data() + offset
             : nullptr;
}

// A stretch of the size and alignment of a chunk lies in one page and one window, and no two
// variables of shared memory have bytes in it.
MemoryView::Together MemoryView::locate_together(const WarpContext &context, LaneMask mask,
                                                 const std::uint64_t (&addresses)[warp_lanes],
                                                 unsigned size, const std::uint8_t *stored) {
  constexpr std::uint64_t stretch = RaceDetector::chunk_bytes;
  static_assert(GlobalMemory::page_size % stretch == 0 && window::size % stretch == 0);
  const WarpInstruction &in = *context.instruction;
  const auto first = static_cast<unsigned>(std::countr_zero(mask));
  const std::uint64_t address = addresses[first];
  const StateSpace actual = space_of(address);
  const bool is_store = stored != nullptr, shared = actual == StateSpace::shared;
  if (size > most_bytes || !std::has_single_bit(size) || address % size != 0 ||
      (!shared && actual != StateSpace::global) || run_.options.reals ||
      (is_store && run_.options.watch != 0) ||
      (in.space != StateSpace::generic && in.space != actual &&
       !(actual == StateSpace::global && in.space == StateSpace::constant)))
    return {};
  Together result{nullptr, 1};
  const auto most =
      std::min<std::uint64_t>(std::countr_one(mask >> first), (stretch - address % stretch) / size);
  result.same = !is_store && most > 1 && addresses[first + 1] == address;
  const auto most_lanes = result.same ? static_cast<unsigned>(std::countr_one(mask >> first))
                                      : static_cast<unsigned>(most);
  while (result.lanes < most_lanes &&
         addresses[first + result.lanes] == address + (result.same ? 0 : result.lanes * size))
    ++result.lanes;
  unsigned bytes = result.same ? size : result.lanes * size;
  if (shared) {
    BlockState &block = *context.warp->block;
    const std::uint64_t offset = address - window::shared;
    if (!is_shared_variable(offset, bytes))
      return {};
    if (std::vector<std::uint8_t> &written = block.shared_written; is_store && !written.empty())
      std::memset(written.data() + offset, 1, bytes);
    else if (!written.empty() && std::memchr(written.data() + offset, 0, bytes))
      return {};
    result.bytes = block.shared.data() + offset;
  } else {
    const GlobalMemory::Allocation *allocation = memory_.find(address, bytes);
    if (!allocation || (is_store && allocation->read_only) ||
        (run_.options.allowed && !is_store && !is_allowed(address, bytes)))
      return {};
    if (run_.options.check_uninitialized && is_store)
      memory_.define(address, bytes);
    else if (run_.options.check_uninitialized && !memory_.is_defined(address, bytes))
      return {};
    if (run_.options.note_touched)
      memory_.note_touched(address, bytes);
    result.bytes = memory_.bytes(address, is_store);
    memory_.track(address, bytes, is_store);
  }
  if (run_.races)
    check_races(context, first, address, size, shared, stored, result);
  return result;
}

// Of lanes that store, as many as have alike what the race check wants to know of their words.
void MemoryView::check_races(const WarpContext &context, unsigned lane, std::uint64_t address,
                             unsigned size, bool shared, const std::uint8_t *stored,
                             Together &together) {
  const unsigned element = context.instruction->element;
  constexpr unsigned word = 4;
  if (!context.instruction->weak || element % word != 0) {
    together.lanes = 0;
    return;
  }
  const std::uint32_t memory = shared ? context.warp->block->index + 1 : 0;
  const auto each_element = [&](unsigned index) {
    for (unsigned i = 0; i < size; i += element) {
      const std::uint64_t at = (together.same ? 0 : index * size) + i;
      check_race(context, lane + index, address + at, together.bytes + at, element, memory,
                 stored ? stored + at : nullptr);
    }
  };
  RaceDetector::Access access = access_of(context, lane, shared, stored != nullptr);
  if (together.same) {
    const LaneMask lanes = (~LaneMask{0} >> (warp_lanes - together.lanes)) << lane;
    for_each_lane(run_.races->note_shared_row(memory, address, size, lanes, access),
                  [&](unsigned left) { each_element(left - lane); });
    return;
  }
  if (stored) {
    const auto is_unchanged = [&](unsigned at) {
      return std::memcmp(together.bytes + at, stored + at, word) == 0;
    };
    access.unchanging = is_unchanged(0);
    access.same_value = access.unchanging && run_.options.allow_same_value;
    unsigned alike = word;
    while (alike < together.lanes * size && is_unchanged(alike) == access.unchanging)
      alike += word;
    together.lanes = alike / size;
    if (together.lanes == 0)
      return;
  }
  for_each_lane(run_.races->note_row(memory, address, size, together.lanes, access),
                [&](unsigned left) { each_element(left - lane); });
}

bool MemoryView::is_allowed(std::uint64_t address, unsigned size) {
  if (const std::uint64_t number = address / GlobalMemory::page_size; number != allowed_number_) {
    const auto &pages = run_.options.allowed->pages();
    const auto page = pages.find(number);
    allowed_page_ = page == pages.end() ? nullptr : page->second.get();
    allowed_number_ = number;
  }
  return allowed_page_ && allowed_page_->is_touched(address % GlobalMemory::page_size, size);
}

std::string_view MemoryView::text_at(const WarpContext &context, unsigned lane,
                                     std::uint64_t address, std::uint64_t most) {
  constexpr unsigned word = 4;
  constexpr std::uint64_t stretch = RaceDetector::chunk_bytes;
  if (address % word != 0 || space_of(address) != StateSpace::global || run_.options.reals ||
      run_.options.check_uninitialized)
    return {};
  const GlobalMemory::Allocation *const allocation = memory_.find(address, 1);
  if (!allocation)
    return {};
  most =
      std::min({most, stretch - address % stretch, allocation->base + allocation->size - address});
  const char *const text = reinterpret_cast<const char *>(memory_.bytes(address, false));
  const auto size = static_cast<unsigned>(::strnlen(text, most) / word * word);
  if (size == 0 || (run_.options.allowed && !is_allowed(address, size)))
    return {};
  if (run_.options.note_touched)
    memory_.note_touched(address, size);
  memory_.track(address, size, false);
  if (run_.races && run_.races->note_shared_row(0, address, size, LaneMask{1} << lane,
                                                access_of(context, lane, false, false)) != 0)
    return {};
  return {text, size};
}

RaceDetector::Access MemoryView::access_of(const WarpContext &context, unsigned lane, bool shared,
                                           bool is_store) const {
  const WarpInstruction &in = *context.instruction;
  RaceDetector::Access access;
  static_cast<ThreadMoment &>(access) = context.moment(lane);
  access.line = in.line;
  access.weak = in.weak || (run_.options.volatile_races && in.is_volatile);
  access.scope = in.scope;
  access.is_store = is_store;
  access.read_only = !shared && !is_store && in.read_only;
  return access;
}

void MemoryView::check_race(const WarpContext &context, unsigned lane, std::uint64_t address,
                            const std::uint8_t *bytes, unsigned size, std::uint32_t memory,
                            const std::uint8_t *stored, std::optional<bool> same) {
  const bool is_store = stored != nullptr;
  RaceDetector::Access access = access_of(context, lane, memory != 0, is_store);
  std::uint32_t same_bytes = 0; // of which two stores may overlap in part, and agree there
  for (unsigned i = 0; is_store && i < std::min(size, 32u); ++i)
    same_bytes |= std::uint32_t{same.value_or(bytes[i] == stored[i])} << i;
  access.unchanging = is_store && same.value_or(std::memcmp(bytes, stored, size) == 0);
  if (const Opcode &opcode = *context.instruction->opcode; !context.instruction->weak && is_store)
    run_.races->release(access, {memory, address}, access.scope,
                        context.instruction->action == WarpAction::atomic,
                        opcode.has(Modifier::release) || opcode.has(Modifier::acq_rel));
  else if (!context.instruction->weak)
    run_.races->acquire(access, {memory, address}, access.scope,
                        opcode.has(Modifier::acquire) || opcode.has(Modifier::acq_rel));
  const auto earlier = run_.races->note(memory, address, size, access,
                                        run_.options.allow_same_value ? same_bytes : 0);
  if (!earlier)
    return;
  const bool changes = !(access.unchanging || (earlier->unchanging && !is_store));
  const FaultKind kind = changes ? FaultKind::race : FaultKind::same_value_race;
  const auto found = [&] {
    WarpFault other = place(*earlier);
    WarpFault fault =
        place(context, kind, lane,
              fmt::format("{} of {:#x} and the {} at {} are not ordered",
                          is_store ? "store" : "load", address, other.message, format_place(other)),
              address);
    fault.others.push_back(std::move(other));
    return fault;
  };
  if (run_.options.go_on)
    note(context, kind, earlier->line, found);
  std::optional<WarpFault> &report = changes ? run_.outcome.race : run_.outcome.same_value_race;
  if (!report)
    report = found();
}

template <class Make>
void MemoryView::note(const WarpContext &context, FaultKind kind, std::uint32_t other_line,
                      const Make &make) {
  for (WarpFinding &known : run_.outcome.findings)
    if (known.first.kind == kind && known.first.line == context.instruction->line &&
        (known.first.others.empty() ? 0 : known.first.others[0].line) == other_line) {
      ++known.count;
      return;
    }
  run_.outcome.findings.push_back({make()});
}

std::uint64_t MemoryView::read(const WarpContext &context, unsigned lane, std::uint64_t address,
                               unsigned size, StateSpace space) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, locate(context, lane, address, size, space, nullptr), size);
  return bits;
}

void MemoryView::write(const WarpContext &context, unsigned lane, std::uint64_t address,
                       unsigned size, StateSpace space, std::uint64_t bits, ExactReal real) {
  std::memcpy(locate(context, lane, address, size, space, &bits, real), &bits, size);
}

// Sectors of 32 bytes of global memory, and passes beyond the first of shared memory.
void MemoryView::note_access(const WarpContext &context, LaneMask mask, unsigned bytes,
                             Pairing pairing, const WarpAddress &where, StateSpace written) {
  if ((!run_.options.profile_memory && !run_.options.count) || where.call_parameter || bytes == 0)
    return;
  std::set<std::uint64_t> sectors;
  std::vector<SharedAccess> shared;
  for_each_lane(mask, [&](unsigned lane) {
    const std::uint64_t address = context.address(where, lane);
    const StateSpace space = written == StateSpace::generic ? space_of(address) : written;
    if (space == StateSpace::shared)
      shared.push_back({lane, address});
    if (space == StateSpace::global)
      for (std::uint64_t at = address / 32; at <= (address + bytes - 1) / 32; ++at)
        sectors.insert(at);
  });
  const auto conflicts_with = [&](Pairing how) {
    const unsigned wavefronts = shared_wavefronts(shared, bytes, how);
    return wavefronts > 1 ? wavefronts - 1 : 0;
  };
  if (run_.options.profile_memory) {
    InstructionProfile &profile = context.profile();
    profile.sectors += sectors.size();
    profile.bank_conflicts += conflicts_with(pairing);
  }
  if (run_.options.count) {
    WarpCount &count = run_.count_of(*context.warp);
    count.sectors += sectors.size();
    count.conflicts += conflicts_with(Pairing::never); // as docs/cost.md defines them
  }
}

WarpFault MemoryView::place(const WarpContext &context, FaultKind kind, unsigned lane,
                            std::string message, std::uint64_t address) const {
  WarpFault fault = context.place(kind, lane, std::move(message), address);
  fault.memory_changes = memory_.changes();
  return fault;
}

WarpFault MemoryView::place(const RaceDetector::Access &access) const {
  WarpFault fault;
  fault.kind = FaultKind::race;
  fault.message = access.is_store ? "store" : "load";
  fault.kernel = run_.program.function(run_.kernel).function->name;
  fault.line = access.line;
  fault.lane = access.lane;
  run_.find_block(access.block, fault.block);
  std::uint64_t thread = (access.thread - 1) % run_.block_threads;
  for (int axis = 0; axis < 3; ++axis) {
    fault.thread[axis] = static_cast<std::uint32_t>(thread % run_.launch.block[axis]);
    thread /= run_.launch.block[axis];
  }
  return fault;
}

} // namespace ptxasw::emulator
