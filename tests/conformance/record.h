#pragma once

#include "grammar/namespaces.h"

#include <cstdint>
#include <string>
#include <vector>

namespace ptxasw::conformance {

/// What one GPU computed: a file of entries, compressed with xz. Inside stand lines
///
///   device NAME
///   have FINGERPRINT SIZE NAME     results are recorded
///   none FINGERPRINT NAME          the assembler refuses it for this architecture
///
/// then an empty line and the results' bytes in this order.
struct Record {
  struct Entry {
    std::string name;
    std::uint64_t fingerprint = 0; ///< of the kernel's text and its operands: a record of another
                                   ///< kernel or other operands does not count
    bool refused = false;
    std::string bytes;
  };
  std::string device;
  std::vector<Entry> entries;
};

/// Empty string, or what went wrong.
std::string write_record(const std::string &path, const Record &record);
std::string read_record(const std::string &path, Record &record);

} // namespace ptxasw::conformance
