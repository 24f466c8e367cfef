// Errors by name. What an error says is its name, in words.

#include "wrapper/runtime/device.h"

#include <cctype>
#include <map>

using namespace ptxasw::wrapper;

namespace {

struct Known {
  const char *name = nullptr;
  std::string words;
};

/// "illegal address" of cudaErrorIllegalAddress.
std::string words_of(std::string_view name) {
  name.remove_prefix(name.starts_with("cudaError") ? 9 : 0);
  std::string words;
  for (std::size_t i = 0; i < name.size(); ++i) {
    const bool begins =
        std::isupper(static_cast<unsigned char>(name[i])) &&
        (i + 1 == name.size() || !std::isupper(static_cast<unsigned char>(name[i + 1])) ||
         (i > 0 && !std::isupper(static_cast<unsigned char>(name[i - 1]))));
    if (begins && i > 0)
      words += ' ';
    words += static_cast<char>(std::tolower(static_cast<unsigned char>(name[i])));
  }
  return words;
}

const Known &known(cudaError_t error) {
  static const auto *const all = [] {
    auto *const result = new std::map<int, Known>;
#define PTXASW_ERROR(name) (*result)[name] = {#name, words_of(#name)};
#include "wrapper/runtime/errors.def"
#undef PTXASW_ERROR
    (*result)[cudaSuccess].words = "no error";
    (*result)[cudaErrorMemoryAllocation].words = "out of memory";
    return result;
  }();
  static const Known none{"unrecognized error code", "unrecognized error code"};
  const auto found = all->find(error);
  return found == all->end() ? none : found->second;
}

} // namespace

extern "C" {

const char *cudaGetErrorName(cudaError_t error) { return known(error).name; }
const char *cudaGetErrorString(cudaError_t error) { return known(error).words.c_str(); }

cudaError_t cudaGetLastError() {
  const cudaError_t error = cudaPeekAtLastError();
  Device::last_error() = cudaSuccess;
  return error;
}

cudaError_t cudaPeekAtLastError() { return Device::last_error(); }

} // extern "C"

namespace ptxasw::wrapper {

/// For refused.cpp, which must not know the API's types.
int refuse(const char *name, const char *why) { return Device::refuse(name, why); }

} // namespace ptxasw::wrapper
