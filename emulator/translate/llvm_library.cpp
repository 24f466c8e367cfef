// The few functions of LLVM's C interface that it takes to get from text of IR to code in memory.
// They are declared here as llvm-c documents them, so that building asks for no LLVM; they have
// been the same from LLVM 14 to 19.

#include "emulator/translate/llvm_library.h"

#include <dlfcn.h>

#include <array>
#include <utility>

namespace ptxasw::emulator {
namespace {

/// Handles of the C interface: pointers to what only LLVM knows.
using Handle = void *;

/// The first fields of LLVMMCJITCompilerOptions; LLVM is told how many there are.
struct JitOptions {
  unsigned optimization;
  int code_model;
  int keep_frame_pointer;
  int fast_selection;
  void *memory_manager;
};

#if defined(__x86_64__)
#define PTXASW_LLVM_TARGET "X86"
#elif defined(__aarch64__)
#define PTXASW_LLVM_TARGET "AArch64"
#else
#define PTXASW_LLVM_TARGET ""
#endif

struct Functions {
  Handle (*ContextCreate)();
  void (*ContextDispose)(Handle);
  Handle (*CreateMemoryBufferWithMemoryRangeCopy)(const char *, std::size_t, const char *);
  int (*ParseIRInContext)(Handle context, Handle buffer, Handle *module, char **message);
  void (*SetTarget)(Handle module, const char *triple);
  void (*DisposeModule)(Handle);
  void (*DisposeMessage)(char *);
  char *(*GetDefaultTargetTriple)();
  char *(*GetHostCPUName)();
  char *(*GetHostCPUFeatures)();
  int (*GetTargetFromTriple)(const char *triple, Handle *target, char **message);
  Handle (*CreateTargetMachine)(Handle target, const char *triple, const char *processor,
                                const char *features, int level, int relocation, int code_model);
  void (*DisposeTargetMachine)(Handle);
  Handle (*CreateTargetDataLayout)(Handle machine);
  void (*DisposeTargetData)(Handle);
  void (*SetModuleDataLayout)(Handle module, Handle layout);
  Handle (*CreatePassBuilderOptions)();
  void (*DisposePassBuilderOptions)(Handle);
  Handle (*RunPasses)(Handle module, const char *passes, Handle machine, Handle options);
  char *(*GetErrorMessage)(Handle error);
  void (*DisposeErrorMessage)(char *);
  Handle (*GetFirstFunction)(Handle module);
  Handle (*GetNextFunction)(Handle function);
  int (*IsDeclaration)(Handle value);
  void (*AddTargetDependentFunctionAttr)(Handle function, const char *name, const char *value);
  void (*LinkInMCJIT)();
  int (*CreateMCJITCompilerForModule)(Handle *engine, Handle module, JitOptions *, std::size_t,
                                      char **message);
  std::uint64_t (*GetFunctionAddress)(Handle engine, const char *name);
  void (*DisposeExecutionEngine)(Handle);
  void (*InitializeTargetInfo)();
  void (*InitializeTarget)();
  void (*InitializeTargetMC)();
  void (*InitializeAsmPrinter)();
};

struct LibraryName {
  const char *file;
  int version;
};

// As Debian and its kin call them.
constexpr LibraryName library_names[] = {{"libLLVM.so.19.1", 19}, {"libLLVM.so.18.1", 18},
                                         {"libLLVM-17.so.1", 17}, {"libLLVM-16.so.1", 16},
                                         {"libLLVM-15.so.1", 15}, {"libLLVM-14.so.1", 14}};

class Library final : public LlvmLibrary {
public:
  Library(void *handle, int version) : handle_(handle), version_(version) {}

  /// Returns the name of a function that is not there; null if all are.
  const char *load(HostVectors vectors) {
    const char *missing = nullptr;
    const auto get = [&](auto &function, const char *name) {
      function =
          reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(handle_, name));
      if (!function)
        missing = name;
    };
    get(f_.ContextCreate, "LLVMContextCreate");
    get(f_.ContextDispose, "LLVMContextDispose");
    get(f_.CreateMemoryBufferWithMemoryRangeCopy, "LLVMCreateMemoryBufferWithMemoryRangeCopy");
    get(f_.ParseIRInContext, "LLVMParseIRInContext");
    get(f_.SetTarget, "LLVMSetTarget");
    get(f_.DisposeModule, "LLVMDisposeModule");
    get(f_.DisposeMessage, "LLVMDisposeMessage");
    get(f_.GetDefaultTargetTriple, "LLVMGetDefaultTargetTriple");
    get(f_.GetHostCPUName, "LLVMGetHostCPUName");
    get(f_.GetHostCPUFeatures, "LLVMGetHostCPUFeatures");
    get(f_.GetTargetFromTriple, "LLVMGetTargetFromTriple");
    get(f_.CreateTargetMachine, "LLVMCreateTargetMachine");
    get(f_.DisposeTargetMachine, "LLVMDisposeTargetMachine");
    get(f_.CreateTargetDataLayout, "LLVMCreateTargetDataLayout");
    get(f_.DisposeTargetData, "LLVMDisposeTargetData");
    get(f_.SetModuleDataLayout, "LLVMSetModuleDataLayout");
    get(f_.CreatePassBuilderOptions, "LLVMCreatePassBuilderOptions");
    get(f_.DisposePassBuilderOptions, "LLVMDisposePassBuilderOptions");
    get(f_.RunPasses, "LLVMRunPasses");
    get(f_.GetErrorMessage, "LLVMGetErrorMessage");
    get(f_.DisposeErrorMessage, "LLVMDisposeErrorMessage");
    get(f_.GetFirstFunction, "LLVMGetFirstFunction");
    get(f_.GetNextFunction, "LLVMGetNextFunction");
    get(f_.IsDeclaration, "LLVMIsDeclaration");
    get(f_.AddTargetDependentFunctionAttr, "LLVMAddTargetDependentFunctionAttr");
    get(f_.LinkInMCJIT, "LLVMLinkInMCJIT");
    get(f_.CreateMCJITCompilerForModule, "LLVMCreateMCJITCompilerForModule");
    get(f_.GetFunctionAddress, "LLVMGetFunctionAddress");
    get(f_.DisposeExecutionEngine, "LLVMDisposeExecutionEngine");
    get(f_.InitializeTargetInfo, "LLVMInitialize" PTXASW_LLVM_TARGET "TargetInfo");
    get(f_.InitializeTarget, "LLVMInitialize" PTXASW_LLVM_TARGET "Target");
    get(f_.InitializeTargetMC, "LLVMInitialize" PTXASW_LLVM_TARGET "TargetMC");
    get(f_.InitializeAsmPrinter, "LLVMInitialize" PTXASW_LLVM_TARGET "AsmPrinter");
    if (missing)
      return missing;
    f_.LinkInMCJIT();
    f_.InitializeTargetInfo();
    f_.InitializeTarget();
    f_.InitializeTargetMC();
    f_.InitializeAsmPrinter();
    triple_ = taken(f_.GetDefaultTargetTriple());
    processor_ = taken(f_.GetHostCPUName());
    features_ = taken(f_.GetHostCPUFeatures());
    limit_to(vectors);
    return nullptr;
  }

  int version() const override { return version_; }

  HostFeatures host() const override {
    const auto offers = [&](std::string_view feature) {
      return ("," + features_ + ",").find(fmt::format(",+{},", feature)) != std::string::npos;
    };
    return {offers("fma") || offers("neon"), offers("f16c"), offers("avx512f")};
  }

  tl::expected<std::unique_ptr<MachineCode>, std::string>
  compile(const std::string &ir) const override;

  const Functions &functions() const { return f_; }

private:
  // What a processor is known to have is taken away again.
  void limit_to(HostVectors vectors) {
    if (vectors == HostVectors::all)
      return;
    if (vectors == HostVectors::sse2) {
      processor_ = "generic";
      features_.clear();
      return;
    }
    constexpr std::string_view wide = "+avx512";
    for (std::size_t at = 0; (at = features_.find(wide, at)) != std::string::npos;)
      features_[at] = '-';
  }

  std::string taken(char *message) const {
    std::string result = message ? message : "";
    if (message)
      f_.DisposeMessage(message);
    return result;
  }

  void *const handle_;
  const int version_;
  Functions f_{};
  std::string triple_, processor_, features_;
};

class Code final : public MachineCode {
public:
  Code(const Functions &f, Handle context, Handle engine)
      : f_(f), context_(context), engine_(engine) {}
  Code(const Code &) = delete;
  Code &operator=(const Code &) = delete;
  ~Code() override {
    f_.DisposeExecutionEngine(engine_); // and its module
    f_.ContextDispose(context_);
  }
  std::uint64_t address(const char *function) const override {
    return f_.GetFunctionAddress(engine_, function);
  }

private:
  const Functions &f_;
  const Handle context_, engine_;
};

// Values go through memory between segments (translate.cpp), so there is little to gain from more
// than what is done here within a block.
constexpr const char *pipeline =
    "function(sroa,early-cse,instcombine,simplifycfg,gvn,dse,instcombine,simplifycfg)";

tl::expected<std::unique_ptr<MachineCode>, std::string>
Library::compile(const std::string &ir) const {
  const Handle context = f_.ContextCreate();
  Handle module = nullptr;
  char *message = nullptr;
  const auto failed = [&](std::string why) {
    if (module)
      f_.DisposeModule(module);
    f_.ContextDispose(context);
    return tl::unexpected(std::move(why));
  };
  const Handle buffer = f_.CreateMemoryBufferWithMemoryRangeCopy(ir.data(), ir.size(), "kernel");
  if (f_.ParseIRInContext(context, buffer, &module, &message))
    return failed(taken(message));
  Handle target = nullptr;
  if (f_.GetTargetFromTriple(triple_.c_str(), &target, &message))
    return failed(taken(message));
  // -O1, addresses wherever the code is, the JIT's model of it
  constexpr int less = 1, relocation_default = 0, model_jit = 1;
  const Handle machine =
      f_.CreateTargetMachine(target, triple_.c_str(), processor_.c_str(), features_.c_str(), less,
                             relocation_default, model_jit);
  const Handle layout = f_.CreateTargetDataLayout(machine);
  f_.SetTarget(module, triple_.c_str());
  f_.SetModuleDataLayout(module, layout);
  f_.DisposeTargetData(layout);
  for (Handle function = f_.GetFirstFunction(module); function;
       function = f_.GetNextFunction(function)) {
    if (f_.IsDeclaration(function))
      continue;
    f_.AddTargetDependentFunctionAttr(function, "target-cpu", processor_.c_str());
    f_.AddTargetDependentFunctionAttr(function, "target-features", features_.c_str());
    f_.AddTargetDependentFunctionAttr(function, "prefer-vector-width", "512");
    f_.AddTargetDependentFunctionAttr(function, "min-legal-vector-width", "512");
  }
  const Handle options = f_.CreatePassBuilderOptions();
  const Handle error = f_.RunPasses(module, pipeline, machine, options);
  f_.DisposePassBuilderOptions(options);
  f_.DisposeTargetMachine(machine);
  if (error) {
    char *const text = f_.GetErrorMessage(error);
    std::string why = text;
    f_.DisposeErrorMessage(text);
    return failed(std::move(why));
  }
  Handle engine = nullptr;
  JitOptions jit{1, model_jit, 0, 0, nullptr};
  if (f_.CreateMCJITCompilerForModule(&engine, module, &jit, sizeof jit, &message)) {
    module = nullptr; // the engine's, also if there is none
    return failed(taken(message));
  }
  return std::make_unique<Code>(f_, context, engine);
}

} // namespace

tl::expected<std::unique_ptr<LlvmLibrary>, std::string> LlvmLibrary::open(HostVectors vectors) {
  if (std::string_view(PTXASW_LLVM_TARGET).empty())
    return tl::unexpected<std::string>("code is translated for x86-64 and AArch64 only");
  for (const LibraryName &name : library_names) {
    void *const handle = dlopen(name.file, RTLD_NOW | RTLD_LOCAL);
    if (!handle)
      continue;
    // It is never closed: it has registered itself with the process.
    auto library = std::make_unique<Library>(handle, name.version);
    if (const char *missing = library->load(vectors))
      return tl::unexpected(fmt::format("{} has no {}", name.file, missing));
    return library;
  }
  return tl::unexpected<std::string>("libLLVM 14 to 19 is not installed");
}

} // namespace ptxasw::emulator
