// Matches original and rewritten text. Both are walked in order, once. An instruction with the text
// of the next original one is that one; a load may have moved up and is sought among those still
// missing; any other must mention a register that the original does not have. So nothing of the
// original can be lost, doubled, reordered or altered without a failure; the proof shows what the
// added instructions do.

#include "synth/proof/match.h"

#include "emulator/semantics/effects.h"
#include "grammar/roles.h"
#include "grammar/scanner.h"
#include "synth/proof/obligation.h"
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
    show(map_registers(), "a register has another meaning");
    show(find_places(), "an added instruction stands where no block of the original is");
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
    std::uint32_t i = 0;
    std::unordered_set<std::string_view> written; // by what was added since the last original
    for (std::uint32_t j = 0; j < count_b(); ++j) {
      bool added = false;
      for_each_register(b_, fb_.instructions[j],
                        [&](RegisterId reg, RegisterUse) { added |= added_register_[reg]; });
      if (added) {
        for_each_register(b_, fb_.instructions[j], [&](RegisterId reg, RegisterUse use) {
          if (use != RegisterUse::read)
            written.insert(fb_.registers[reg].name);
        });
        continue;
      }
      // The replaced loads whose values are there already; a load that comes before them moved up.
      for (; i < count_a() && gone_[i] && (!is_replaced(i) || is_written(i, written)); ++i)
        ;
      if (i < count_a() && !gone_[i] && text_a(i) == text_b(j)) {
        result_.original[j] = i++;
        written.clear();
      } else if (const std::uint32_t source = moved_from(i, j); source != no_index) {
        result_.original[j] = source;
        result_.moved[j] = gone_[source] = true;
      } else {
        return false;
      }
    }
    for (; i < count_a() && gone_[i]; ++i)
      ;
    return i == count_a();
  }

  bool is_replaced(std::uint32_t i) const {
    return std::binary_search(replaced_.begin(), replaced_.end(), i);
  }

  bool is_written(std::uint32_t load, const std::unordered_set<std::string_view> &names) const {
    bool result = false;
    for_each_register(a_, fa_.instructions[load], [&](RegisterId reg, RegisterUse use) {
      result |= use != RegisterUse::read && names.contains(fa_.registers[reg].name);
    });
    return result;
  }

  // The load further down in the block of `from` that stands here now.
  std::uint32_t moved_from(std::uint32_t from, std::uint32_t j) const {
    for (std::uint32_t k = from; k < count_a(); ++k) {
      const Opcode &opcode = a_.opcode(fa_.instructions[k]);
      if (!gone_[k] && text_a(k) == text_b(j))
        return effect_of(opcode) == Effect::load ? k : no_index;
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

  bool pair(RegisterId a, RegisterId b) {
    if (added_register_[b])
      return false;
    RegisterId &forth = result_.registers[b], &back = back_[a];
    if (forth == no_register && back == no_register) {
      forth = a;
      back = b;
    }
    return forth == a && back == b;
  }

  // Registers that stand at the same place of the same instruction are the same; what only replaced
  // loads mention goes by its name.
  bool map_registers() {
    result_.registers.assign(fb_.registers.size(), no_register);
    back_.assign(fa_.registers.size(), no_register);
    std::vector<RegisterId> left, right;
    const auto collect = [](const Module &module, const Instruction &instruction, auto &list) {
      list.clear();
      for_each_register(module, instruction,
                        [&](RegisterId reg, RegisterUse) { list.push_back(reg); });
    };
    for (std::uint32_t j = 0; j < count_b(); ++j) {
      if (result_.original[j] == no_index)
        continue;
      collect(a_, fa_.instructions[result_.original[j]], left);
      collect(b_, fb_.instructions[j], right);
      if (left.size() != right.size())
        return false;
      for (std::size_t k = 0; k < left.size(); ++k)
        if (!pair(left[k], right[k]))
          return false;
    }
    for (RegisterId b = 0; b < fb_.registers.size(); ++b) {
      if (added_register_[b] || result_.registers[b] != no_register)
        continue;
      RegisterId named = no_register;
      for (RegisterId a = 0; a < fa_.registers.size(); ++a)
        if (back_[a] == no_register && fa_.registers[a].name == fb_.registers[b].name) {
          if (named != no_register)
            return false;
          named = a;
        }
      if (named == no_register || !pair(named, b))
        return false;
    }
    return true;
  }

  bool find_places() {
    if (fa_.labels.size() != fb_.labels.size())
      return false;
    result_.places.resize(count_b());
    std::size_t labels = 0;  // at or before the rewritten instruction
    std::uint32_t above = 0; // one past the last original instruction that stayed in place
    for (std::uint32_t j = 0; j < count_b(); ++j) {
      for (; labels < fb_.labels.size() && fb_.labels[labels].position <= j; ++labels)
        ;
      if (result_.original[j] != no_index && !result_.moved[j]) {
        above = result_.original[j] + 1;
        continue;
      }
      const std::uint32_t at = std::max(above, labels == 0 ? 0 : fa_.labels[labels - 1].position);
      const bool label_follows = labels < fa_.labels.size() && fa_.labels[labels].position == at;
      InsertedPlace &place = result_.places[j];
      if (at == 0 && labels == 0) {
        place.entry = true;
      } else if (!label_follows && at < count_a()) {
        place.instruction = at;
      } else {
        if (at == 0 || (labels > 0 && fa_.labels[labels - 1].position == at) ||
            ends_block(a_.opcode(fa_.instructions[at - 1])))
          return false;
        place = {at - 1, true, false};
      }
    }
    return true;
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
  std::vector<RegisterId> back_;
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
