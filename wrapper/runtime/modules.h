#pragma once

// The kernels and variables of the program: from the fat binaries that it registers, made ready
// when one of them is first asked for.

#include "emulator/machine/warp_program.h"
#include "grammar/fat_binary.h"
#include "wrapper/runtime/device.h"

#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

namespace ptxasw::wrapper {
class LoadedModule;
}

/// A kernel: what cudaKernel_t and cudaFunction_t point to.
struct CUkern_st {
  ptxasw::wrapper::LoadedModule *module = nullptr;
  std::string name;
  int dynamic_shared_limit = 48 * 1024; ///< bytes, as raised by the program
  int carveout = -1;
};

/// A module that the program loads: what cudaLibrary_t and CUmodule point to.
struct CUlib_st {
  ptxasw::wrapper::LoadedModule *module = nullptr;
};

namespace ptxasw::wrapper {

/// A variable of the program's, by what the host calls it.
struct HostVariable {
  LoadedModule *module = nullptr;
  std::string name;
  void **managed = nullptr; ///< where its address is wanted
};

/// One fat binary, or one module of the library API.
class LoadedModule {
public:
  explicit LoadedModule(std::vector<FatImage> images) : images_(std::move(images)) {}
  explicit LoadedModule(std::string text) : text_(std::move(text)) {}
  ~LoadedModule();

  /// Parses it and gives its variables their places. Success, or the error of a call that needs it;
  /// what is wrong is said once.
  cudaError_t load();
  /// What was wrong with the last module that this thread could not load.
  static std::string &last_failure();
  CUlib_st *handle = nullptr; ///< of one that the program loaded itself
  bool is_loaded() const { return program_ != nullptr; }
  const WarpProgram &program() const { return *program_; }
  const Module &module() const { return *module_; }
  struct Place {
    void *address = nullptr;
    std::uint64_t size = 0; ///< bytes
  };
  /// A variable; null if there is none of that name.
  const Place *find(const std::string &name) const;
  /// The kernel of that name, which need not exist.
  CUkern_st *kernel(const std::string &name);
  std::map<std::string, std::unique_ptr<CUkern_st>> &kernels() { return kernels_; }

private:
  cudaError_t fail(cudaError_t error, const std::string &why);
  std::string find_text();

  std::vector<FatImage> images_;
  std::string text_;
  cudaError_t error_ = cudaSuccess;
  std::unique_ptr<Module> module_;
  std::unique_ptr<WarpProgram> program_;
  std::map<std::string, Place> variables_;
  std::map<std::string, std::unique_ptr<CUkern_st>> kernels_;
};

/// All of them. Calls are made under Device's lock, except while the program starts.
struct Registry {
  static Registry &get();
  std::unordered_map<const void *, CUkern_st *> kernels; ///< by the host's function
  std::unordered_map<const void *, HostVariable> variables;
  std::vector<std::unique_ptr<LoadedModule>> modules;

  /// What a function of the host, a cudaKernel_t or a cudaFunction_t stands for; null: nothing.
  CUkern_st *find_kernel(const void *function) const;
  /// The place of a variable, by the host's; or the error.
  cudaError_t find_variable(const void *symbol, LoadedModule::Place &place) const;
};

} // namespace ptxasw::wrapper
