// The Translator that goes through LLVM.

#include "emulator/translate/translator.h"

#include "emulator/translate/llvm_library.h"
#include "emulator/translate/translate.h"

#include <mutex>

namespace ptxasw::inline emulator {
namespace {

/// Thread-instructions for each instruction of a function that the interpreter executes while it is
/// translated: a millisecond's.
constexpr std::uint64_t worth_of_instruction = 200'000;
/// LLVM's effort grows faster than the code.
constexpr std::size_t most_instructions = 20'000;

struct LlvmTranslation final : Translation {
  std::unique_ptr<MachineCode> machine_code;
};

/// Opens LLVM when there is something to translate.
class LlvmTranslator final : public Translator {
public:
  explicit LlvmTranslator(bool at_once) : at_once_(at_once) {}

  std::uint64_t worth(const WarpFunction &function) const override {
    return at_once_ ? 0 : worth_of_instruction * function.code.size();
  }

  std::unique_ptr<Translation> translate(const WarpProgram &program,
                                         std::uint32_t function) override {
    if (program.function(function).code.size() > most_instructions ||
        !program.function(function).cfg->well_formed() || !open())
      return nullptr;
    const LlvmLibrary &llvm = ***library_;
    TranslatedText text = translated_text(program, function, llvm.host(), llvm.version() >= 15);
    auto code = llvm.compile(text.ir);
    if (!code)
      return nullptr;
    auto result = std::make_unique<LlvmTranslation>();
    const std::uint64_t address = (*code)->address("translated");
    if (address == 0)
      return nullptr;
    result->code = reinterpret_cast<void (*)(TranslatedFrame *)>(address);
    result->entries = std::move(text.entries);
    result->specials = std::move(text.specials);
    result->machine_code = std::move(*code);
    return result;
  }

  /// Returns true if LLVM is there.
  bool open() {
    const std::scoped_lock lock(mutex_);
    if (!library_)
      library_ = LlvmLibrary::open();
    return library_->has_value();
  }
  const std::string &why_not() const { return library_->error(); }

private:
  const bool at_once_;
  std::mutex mutex_;
  std::optional<tl::expected<std::unique_ptr<LlvmLibrary>, std::string>> library_;
};

} // namespace

std::optional<Engine> engine_called(std::string_view name) {
  if (name == "auto")
    return Engine::automatic;
  if (name == "interpreter")
    return Engine::interpreter;
  if (name == "translated")
    return Engine::translated;
  return std::nullopt;
}

tl::expected<void, std::string> choose_engine(Engine engine) {
  set_translator(nullptr);
  if (engine == Engine::interpreter)
    return {};
  // They stay: programs that have been translated are theirs.
  static LlvmTranslator *const at_once = new LlvmTranslator(true), *const later =
                                                                       new LlvmTranslator(false);
  LlvmTranslator *const chosen = engine == Engine::translated ? at_once : later;
  if (engine == Engine::translated && !chosen->open())
    return tl::unexpected(chosen->why_not());
  set_translator(chosen);
  return {};
}

} // namespace ptxasw::emulator
