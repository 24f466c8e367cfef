#pragma once

#include "grammar/namespaces.h"
#include "launch.h"
#include "variants.h"

#include <optional>

namespace ptxasw::conformance {

/// What is recorded and compared: one launch, of a variant or of a whole kernel.
struct Item {
  std::string name;
  std::string module; ///< name of the module it is in
  Launch launch;
  std::uint64_t fingerprint = 0;
  const Variant *variant = nullptr; ///< null: a whole kernel
  bool digest = false;              ///< a hash of each warp's results is recorded in place of them
};

/// Items by module, with the modules' texts.
struct Suite {
  struct Module {
    std::string name, text;
    std::vector<Item> items;
  };
  std::vector<Module> modules;
};

/// All variants, many to a module.
Suite variant_suite(const std::string &target);

/// The whole kernels that `tests/conformance/kernels/kernels.txt` lists, each line
///
///   MODULE KERNEL GX,GY,GZ BX,BY,BZ ARGUMENT...
///
/// with the module's path from the project's root, without `.ptx`, and arguments `TYPE=NUMBER`,
/// `in:FILL:COUNT`, `out:FILL:COUNT`. FILL is zeros or bytes (32 bits each), u32<N or f32<N (whole
/// numbers below N), f32 or f64 (from -1 to 1). Throws std::runtime_error.
Suite kernel_suite(const std::string &root);

/// What is recorded of a variant's raw results: one result at a time, flags as bits, numbers by
/// byte.
std::string arrange(const Variant &variant, const Bytes &raw);
/// What is recorded of an item's raw results.
std::string recorded_form(const Item &item, const Bytes &raw);
/// One recorded number: of which result, of which set.
std::uint64_t recorded_number(const Variant &variant, const std::string &bytes, std::size_t result,
                              unsigned set);

} // namespace ptxasw::conformance
