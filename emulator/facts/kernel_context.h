#pragma once

// A kernel and what is worked out about it once, for whoever asks first: analyses, all families
// that propose versions of it or write them, and the search for rewrites in its place. Only what
// somebody asks for is worked out; it is constant from then on.
//
//   const facts::KernelContext context(module, kernel);
//   if (const auto line = facts::waits_at(context)) ...

#include "emulator/facts/kernel_facts.h"
#include "emulator/facts/origins.h"
#include "grammar/cfg.h"
#include "grammar/liveness.h"
#include "grammar/module.h"
#include "grammar/roles.h"

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <typeindex>
#include <utility>
#include <vector>

namespace ptxasw::facts {

class KernelContext {
public:
  /// Both must outlive it.
  KernelContext(const Module &of, const Function &which) : module(of), kernel(which) {}
  /// The same of a kernel whose control flow is known to somebody; it must outlive it, too.
  KernelContext(const Module &of, const Function &which, const ControlFlowGraph &known)
      : module(of), kernel(which), known_(&known) {}

  const Module &module;
  const Function &kernel;

  /// Control flow and facts of a kernel with a body, for any launch.
  const ControlFlowGraph &cfg() const {
    return known_ ? *known_ : facts_ ? facts_->cfg() : made(cfg_);
  }
  const KernelFacts &facts() const { return made(facts_); }
  const Origins &origins() const { return made(origins_); }
  const Liveness &liveness() const {
    if (!liveness_)
      liveness_.emplace(module, kernel, cfg());
    return *liveness_;
  }

  /// What `make` returns, which is asked the first time alone: what a family finds to propose
  /// something is there when it writes. Of one type, a name stands for one result.
  template <typename Make> const auto &once(std::string_view name, Make make) const {
    using Result = std::remove_cvref_t<decltype(make())>;
    std::shared_ptr<const void> &known = results_[{typeid(Result), std::string(name)}];
    if (!known)
      known = std::make_shared<const Result>(make());
    return *static_cast<const Result *>(known.get());
  }

  /// By register: the one instruction that may write it, if it always writes all of it; no_index:
  /// there is none, or several.
  const std::vector<std::uint32_t> &only_writers() const {
    return once("only writers", [&] {
      std::vector<std::uint32_t> only(kernel.registers.size(), no_index);
      std::vector<bool> written(only.size(), false);
      for (std::uint32_t i = 0; i < kernel.instructions.size(); ++i)
        for_each_register(module, kernel.instructions[i], [&](RegisterId reg, RegisterUse use) {
          if (use == RegisterUse::read)
            return;
          only[reg] = !written[reg] && use == RegisterUse::written ? i : no_index;
          written[reg] = true;
        });
      return only;
    });
  }

private:
  template <typename Fact> const Fact &made(std::optional<Fact> &fact) const {
    if (!fact)
      fact.emplace(module, kernel);
    return *fact;
  }

  const ControlFlowGraph *known_ = nullptr;
  mutable std::optional<ControlFlowGraph> cfg_;
  mutable std::optional<KernelFacts> facts_;
  mutable std::optional<Origins> origins_;
  mutable std::optional<Liveness> liveness_;
  mutable std::map<std::pair<std::type_index, std::string>, std::shared_ptr<const void>> results_;
};

/// For those who look at a kernel instruction by instruction.
class OfKernel {
protected:
  explicit OfKernel(const KernelContext &context)
      : context_(context), module_(context.module), kernel_(context.kernel) {}

  std::uint32_t count() const { return static_cast<std::uint32_t>(kernel_.instructions.size()); }
  const Instruction &instruction(std::uint32_t i) const { return kernel_.instructions[i]; }
  const Opcode &opcode(std::uint32_t i) const { return module_.opcode(instruction(i)); }
  std::span<const Operand> operands(std::uint32_t i) const {
    return module_.operands(instruction(i));
  }
  const ControlFlowGraph &cfg() const { return context_.cfg(); }
  const BasicBlock &block(BlockId id) const { return cfg().blocks()[id]; }
  /// Throws why not, for an instruction's line, unless something holds.
  template <class Reason> void demand(bool holds, const Reason &otherwise, std::uint32_t i) const {
    if (!holds)
      throw otherwise.at(instruction(i).line);
  }

  const KernelContext &context_;
  const Module &module_;
  const Function &kernel_;
};

} // namespace ptxasw::facts
