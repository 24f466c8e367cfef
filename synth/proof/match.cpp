// Matches original and rewritten text. Both are walked in order, once. An instruction with the text
// of the next original one is that one; a load may have moved up and is sought among those still
// missing; any other must mention a register that the original does not have. So nothing of the
// original can be lost, doubled, reordered or altered without a failure; the proof shows what the
// added instructions do.
//
// Where added code writes an original register, that must be the destination of the next replaced
// load that has it: between the same two instructions that stayed, and behind the same labels. What
// is written for one load stands together, in the order of the loads.

#include "synth/proof/restore.h"

#include "emulator/facts/between.h"
#include "emulator/semantics/effects.h"
#include "grammar/roles.h"
#include "grammar/scanner.h"
#include "synth/proof/prove.h"
#include "synth/prove/header.h"

#include <algorithm>
#include <optional>
#include <string>
#include <unordered_set>

namespace ptxasw::synth {
namespace {

bool ends_block(const Opcode &opcode) {
  return opcode.op == Op::bra || opcode.op == Op::brx || opcode.op == Op::ret ||
         opcode.op == Op::exit || opcode.op == Op::trap;
}

/// The words of a function's body except for those of some instructions, and for declarations of
/// registers whose names do not occur in `own`.
std::vector<std::string_view> words_of(const Module &module, const Function &function,
                                       const std::vector<bool> &without, std::string_view own) {
  std::vector<std::string_view> words;
  const auto &all = function.instructions;
  const std::string_view text = module.text(function.body);
  Scanner scanner(text);
  std::size_t i = 0;
  std::optional<std::size_t> declaration; // where its words begin, if all of its names are new
  for (Token token = scanner.next(); token.kind != TokenKind::end_of_file; token = scanner.next()) {
    const std::uint32_t at = function.body.begin + token.span.begin;
    while (i < all.size() && all[i].span.end <= at)
      ++i;
    if (i < all.size() && at >= all[i].span.begin && without[i])
      continue;
    const std::string_view word = text.substr(token.span.begin, token.span.size());
    if (word == ".reg")
      declaration = words.size();
    else if (declaration && token.kind == TokenKind::word && own.find(word) != own.npos)
      declaration.reset();
    words.push_back(word);
    if (declaration && word == ";") {
      words.resize(*declaration);
      declaration.reset();
    }
  }
  return words;
}

class Matcher {
public:
  Matcher(const Module &original, const Function &before, const Module &rewritten,
          const Function &after, std::span<const std::uint32_t> replaced)
      : a_(original), fa_(before), b_(rewritten), fb_(after), replaced_(replaced),
        gone_(before.instructions.size()), added_register_(proof::added_registers(before, after)) {
    for (const std::uint32_t index : replaced)
      gone_[index] = true;
  }

  FunctionMatch run() {
    const auto show = [](bool holds, std::string_view otherwise) {
      demand(holds, Obligation::lined_up, otherwise);
    };
    show(line_up(), "an instruction is neither the original's nor added");
    show(same_text(), "text that is no instruction differs");
    show(same_pragmas(), "a pragma lost its statement");
    return std::move(result_);
  }

private:
  std::string_view text_a(std::uint32_t i) const { return a_.text(fa_.instructions[i].span); }
  std::string_view text_b(std::uint32_t j) const { return b_.text(fb_.instructions[j].span); }
  std::uint32_t count_a() const { return static_cast<std::uint32_t>(fa_.instructions.size()); }
  std::uint32_t count_b() const { return static_cast<std::uint32_t>(fb_.instructions.size()); }

  bool line_up() {
    result_.original.assign(count_b(), no_index);
    result_.moved.assign(count_b(), false);
    std::uint32_t i = 0; // the first original one that has not come
    for (std::uint32_t j = 0; j < count_b(); ++j) {
      bool added = false;
      for_each_register(b_, fb_.instructions[j],
                        [&](RegisterId reg, RegisterUse) { added |= added_register_[reg]; });
      if (added) {
        for (const RegisterId reg : written_registers(b_, fb_.instructions[j]))
          if (!added_register_[reg] && !give(j, reg, i))
            return false;
        continue;
      }
      open_ = false;
      // A load that comes before the values of a replaced one moved up.
      for (; i < count_a() && gone_[i] && !is_replaced(i); ++i)
        ;
      if (i < count_a() && !gone_[i] && text_a(i) == text_b(j)) {
        result_.original[j] = i++;
      } else if (const std::uint32_t load = moved_from(i, j); load != no_index) {
        result_.original[j] = load;
        result_.moved[j] = gone_[load] = true;
      } else {
        return false;
      }
    }
    for (; i < count_a() && gone_[i]; ++i)
      ;
    return i == count_a();
  }

  bool writes(std::uint32_t load, std::string_view name) const {
    const auto written = written_registers(a_, fa_.instructions[load]);
    return std::any_of(written.begin(), written.end(),
                       [&](RegisterId reg) { return fa_.registers[reg].name == name; });
  }

  // Added code writes an original register: for the replaced load for which others are written
  // here, or for the next. What is written in all lanes once more is the next one's.
  bool give(std::uint32_t j, RegisterId reg, std::uint32_t &i) {
    const std::string_view name = fb_.registers[reg].name;
    std::uint32_t next = i;
    for (; next < count_a() && gone_[next] && !(is_replaced(next) && writes(next, name)); ++next)
      ;
    const bool is_next = next < count_a() && gone_[next];
    const bool again = fb_.instructions[j].guard == no_register && given_.contains(name);
    if (open_ && writes(result_.values.back().load, name) && !(again && is_next)) {
      result_.values.back().last = j;
    } else {
      if (!is_next || (open_ && result_.values.back().last == j))
        return false;
      result_.values.push_back({next, j, j});
      i = next + 1;
      open_ = true;
      given_.clear();
    }
    given_.insert(name);
    return labels_before(fa_, result_.values.back().load) == labels_before(fb_, j);
  }

  bool is_replaced(std::uint32_t i) const {
    return std::binary_search(replaced_.begin(), replaced_.end(), i);
  }

  /// Labels in front of an instruction.
  static std::ptrdiff_t labels_before(const Function &function, std::uint32_t instruction) {
    return std::count_if(function.labels.begin(), function.labels.end(),
                         [&](const Label &label) { return label.position <= instruction; });
  }

  // The load further down in the block of `from` that stands here now, before what it does not
  // depend on.
  std::uint32_t moved_from(std::uint32_t from, std::uint32_t j) const {
    for (std::uint32_t k = from; k < count_a() && labels_before(fa_, k) == labels_before(fb_, j);
         ++k) {
      const Opcode &opcode = a_.opcode(fa_.instructions[k]);
      if (!gone_[k] && text_a(k) == text_b(j))
        return effect_of(opcode) == Effect::load && !facts::touched_between(a_, fa_, from, k)
                   ? k
                   : no_index;
      if (ends_block(opcode))
        break;
    }
    return no_index;
  }

  // Nothing changed except for what was added, and what is gone.
  bool same_text() const {
    std::vector<bool> more(count_b());
    for (std::uint32_t j = 0; j < count_b(); ++j)
      more[j] = result_.original[j] == no_index || result_.moved[j];
    const std::string_view own = a_.text(fa_.span);
    return words_of(a_, fa_, gone_, own) == words_of(b_, fb_, more, own);
  }

  bool same_pragmas() const {
    if (fa_.pragmas.size() != fb_.pragmas.size())
      return false;
    for (std::size_t p = 0; p < fa_.pragmas.size(); ++p) {
      const std::uint32_t before = fa_.pragmas[p].position, now = fb_.pragmas[p].position;
      if (before >= count_a()
              ? now < count_b()
              : now >= count_b() || result_.original[now] != before || result_.moved[now])
        return false;
    }
    return true;
  }

  const Module &a_;
  const Function &fa_;
  const Module &b_;
  const Function &fb_;
  const std::span<const std::uint32_t> replaced_;
  std::vector<bool> gone_; ///< by original instruction: replaced or moved
  const std::vector<bool> added_register_;
  bool open_ = false;                          ///< the last of the values may not be complete
  std::unordered_set<std::string_view> given_; ///< names of registers that it has been given
  FunctionMatch result_;
};

} // namespace

FunctionMatch match(const Module &original, const Function &before, const Module &rewritten,
                    const Function &after, std::span<const std::uint32_t> replaced) {
  return Matcher(original, before, rewritten, after, replaced).run();
}

bool same_beside(const Module &original, const Module &rewritten,
                 const std::vector<std::vector<std::uint32_t>> &replaced) {
  if (original.functions.size() != rewritten.functions.size())
    return false;
  std::uint32_t behind = 0, behind_there = 0; // the last of these bodies
  for (std::size_t f = 0; f < original.functions.size(); ++f) {
    const Function &a = original.functions[f], &b = rewritten.functions[f];
    if (replaced[f].empty())
      continue;
    if (!b.has_body ||
        original.text({behind, a.body.begin}) != rewritten.text({behind_there, b.body.begin}))
      return false;
    behind = a.body.end;
    behind_there = b.body.end;
  }
  return original.text().substr(behind) == rewritten.text().substr(behind_there);
}

} // namespace ptxasw::synth
