// The Translator that goes through LLVM.

#include "emulator/translate/translator.h"

#include "emulator/translate/llvm_library.h"
#include "emulator/translate/translate.h"

#include <algorithm>
#include <functional>
#include <mutex>
#include <pthread.h>

namespace ptxasw::emulator {
namespace {

/// Thread-instructions that the interpreter executes while a function of n instructions is
/// translated: a millisecond's for each, and, as LLVM's effort grows with the square of straight
/// code in which much may go wrong, these times n * n.
constexpr std::uint64_t worth_of_instruction = 200'000, worth_of_pair = 300;
/// More would take half a minute and a gigabyte.
constexpr std::size_t most_instructions = 4000;
/// LLVM's passes call each other deeply, and whoever launches may have a small stack.
constexpr std::size_t stack_bytes = std::size_t{8} << 20;

/// Runs `work` to its end on a thread that has room; false: there is no such thread.
bool run_with_room(const std::function<void()> &work) {
  pthread_attr_t attributes;
  if (::pthread_attr_init(&attributes) != 0)
    return false;
  pthread_t thread{};
  const auto run = [](void *argument) -> void * {
    (*static_cast<const std::function<void()> *>(argument))();
    return nullptr;
  };
  const bool started =
      ::pthread_attr_setstacksize(&attributes, stack_bytes) == 0 &&
      ::pthread_create(&thread, &attributes, run, const_cast<std::function<void()> *>(&work)) == 0;
  ::pthread_attr_destroy(&attributes);
  return started && ::pthread_join(thread, nullptr) == 0;
}

struct LlvmTranslation final : Translation {
  std::unique_ptr<MachineCode> machine_code;
};

/// Opens LLVM when there is something to translate.
class LlvmTranslator final : public Translator {
public:
  explicit LlvmTranslator(bool at_once, HostVectors vectors = HostVectors::all)
      : at_once_(at_once), vectors_(vectors) {}

  std::uint64_t worth(const WarpFunction &function) const override {
    const std::uint64_t size = function.code.size();
    return at_once_ ? 0 : std::max(worth_of_instruction, worth_of_pair * size) * size;
  }

  std::unique_ptr<Translation> translate(const WarpProgram &program, std::uint32_t function,
                                         LaneLayout layout) override {
    std::unique_ptr<Translation> result;
    run_with_room([&] { result = translated(program, function, layout); });
    return result;
  }

  /// Returns true if LLVM is there.
  bool open() {
    const std::scoped_lock lock(mutex_);
    if (!library_)
      library_ = LlvmLibrary::open(vectors_);
    return library_->has_value();
  }
  const std::string &why_not() const { return library_->error(); }

private:
  std::unique_ptr<Translation> translated(const WarpProgram &program, std::uint32_t function,
                                          LaneLayout layout) {
    if (program.function(function).code.size() > most_instructions ||
        !program.function(function).cfg->well_formed() || !open())
      return nullptr;
    const LlvmLibrary &llvm = ***library_;
    TranslatedText text =
        translated_text(program, function, layout, llvm.host(), llvm.version() >= 15);
    auto code = llvm.compile(text.ir);
    if (!code)
      return nullptr;
    auto result = std::make_unique<LlvmTranslation>();
    const std::uint64_t address = (*code)->address("translated");
    if (address == 0)
      return nullptr;
    result->code = reinterpret_cast<void (*)(TranslatedFrame *)>(address);
    result->entries = std::move(text.entries);
    result->spans = std::move(text.spans);
    result->specials = std::move(text.specials);
    result->slots = std::move(text.slots);
    result->slot_bytes = text.slot_bytes;
    result->live_begin = std::move(text.live_begin);
    result->live = std::move(text.live);
    result->changed_begin = std::move(text.changed_begin);
    result->changed = std::move(text.changed);
    result->partings = std::move(text.partings);
    result->layout = layout;
    result->machine_code = std::move(*code);
    return result;
  }

  const bool at_once_;
  const HostVectors vectors_;
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

tl::expected<void, std::string> choose_engine(Engine engine, HostVectors vectors) {
  set_translator(nullptr);
  if (engine == Engine::interpreter)
    return {};
  // They stay: programs that have been translated are theirs.
  static LlvmTranslator *const later = new LlvmTranslator(false);
  static LlvmTranslator *const at_once[] = {new LlvmTranslator(true),
                                            new LlvmTranslator(true, HostVectors::avx2),
                                            new LlvmTranslator(true, HostVectors::sse2)};
  LlvmTranslator *const chosen =
      engine == Engine::translated ? at_once[static_cast<std::size_t>(vectors)] : later;
  if (engine == Engine::translated && !chosen->open())
    return tl::unexpected(chosen->why_not());
  set_translator(chosen);
  return {};
}

} // namespace ptxasw::emulator
