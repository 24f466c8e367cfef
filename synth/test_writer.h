#pragma once

// Sums of products, and tests of them, as instructions.

#include "emulator/facts/loop_values.h"
#include "grammar/code_writer.h"

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace ptxasw::synth {

/// Writes what is tested, each sum and product once.
class TestWriter {
public:
  TestWriter(const Function &function, const facts::Atoms &atoms, NewRegisters &fresh)
      : function_(function), atoms_(atoms), fresh_(fresh) {}

  /// Writes all conditions as one predicate, of which there is at least one.
  void all(const std::vector<facts::Condition> &conditions, const std::string &result);
  /// A register of 64 bits that holds it, or a number.
  std::string value(const facts::Polynomial &polynomial);

  CodeWriter out;

private:
  std::string made(const char *type, std::string_view opcode, std::string sources);
  std::string wide(std::string_view opcode, std::string_view a, std::string_view b);
  std::string tested(std::string_view opcode, std::string_view a, std::string_view b);
  std::string atom(facts::AtomId id);
  std::string term(const std::vector<facts::AtomId> &product, std::int64_t factor);
  std::string held(const facts::Polynomial &polynomial);
  std::string one(const facts::Condition &condition);

  const Function &function_;
  const facts::Atoms &atoms_;
  NewRegisters &fresh_;
  std::map<std::pair<std::string, std::string>, std::string> known_; ///< by opcode and sources
};

} // namespace ptxasw::synth
