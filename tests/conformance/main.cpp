// conformance list
// conformance dry [SUITE...]             everything once, without a record
// conformance prepare FOLDER TARGET SUITE...   modules, manifests and contents for the runner
// conformance pack FOLDER DEVICE RECORD...     records; a file's name begins with its suite's
// conformance compare FOLDER SUITE        what the runner left there, word by word
// conformance check RECORD... [-v]       the emulator against what a GPU computed
// conformance measure RECORD             the largest errors of what is approximate
// conformance engines SUITE [N]          translated code against the interpreter; every Nth launch
//
// README.md says how a record is made.

#include "emulator/translate/translator.h"

#include "approximation.h"
#include "hopper.h"
#include "record.h"
#include "suite.h"
#include "tensor.h"

#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fmt/core.h>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <span>
#include <stdexcept>

using namespace ptxasw::test;
using namespace ptxasw::conformance;

namespace {

const std::string root = SOURCE_DIR;
const std::string own_folder = root + "/tests/conformance";

void write_file(const std::filesystem::path &path, const void *data, std::size_t size) {
  std::ofstream file(path, std::ios::binary);
  file.write(static_cast<const char *>(data), static_cast<std::streamsize>(size));
  if (!file.flush())
    throw std::runtime_error("cannot write " + path.string());
}

int list() {
  for (const Variant &variant : variants())
    fmt::print("{}\n", variant.name);
  return 0;
}

/// What there is to record.
constexpr std::string_view suite_names[] = {"variants", "kernels", "tensor", "hopper"};

Suite suite_of(std::string_view name, const std::string &target) {
  if (name == "variants")
    return variant_suite(target);
  if (name == "kernels")
    return kernel_suite(root);
  if (name == "tensor")
    return tensor_suite(target);
  if (name == "hopper") // of its own target
    return hopper_suite("sm_90a");
  throw std::runtime_error(fmt::format("there is no suite {}", name));
}

int prepare(const std::filesystem::path &folder, const std::string &target,
            std::span<const std::string> suites) {
  std::filesystem::create_directories(folder);
  Contents contents;
  for (const std::string &name : suites)
    for (const Suite::Module &module : suite_of(name, target).modules) {
      std::vector<Launch> launches;
      for (const Item &item : module.items)
        launches.push_back(item.launch);
      const std::string text = manifest(launches, contents);
      write_file(folder / (module.name + ".ptx"), module.text.data(), module.text.size());
      write_file(folder / (module.name + ".manifest"), text.data(), text.size());
    }
  write_file(folder / "contents", contents.bytes().data(), contents.bytes().size());
  return 0;
}

/// Adds what the runner left of a module's items.
void pack_module(const Suite::Module &module, const std::filesystem::path &folder, Record &record) {
  std::ifstream file(folder / (module.name + ".results"), std::ios::binary);
  const Bytes results{std::istreambuf_iterator<char>(file), {}};
  std::size_t at = 0;
  for (const Item &item : module.items) {
    if (at >= results.size())
      throw std::runtime_error(module.name + ": the results end early");
    Record::Entry entry{item.name, item.fingerprint, results[at++] == 0, {}};
    if (!entry.refused) {
      const std::size_t size = result_bytes(item.launch);
      if (at + size > results.size())
        throw std::runtime_error(module.name + ": the results end early");
      const Bytes raw(results.begin() + static_cast<std::ptrdiff_t>(at),
                      results.begin() + static_cast<std::ptrdiff_t>(at + size));
      entry.bytes = recorded_form(item, raw);
      at += size;
    }
    record.entries.push_back(std::move(entry));
  }
}

int pack(const std::filesystem::path &folder, const std::string &device,
         std::span<const std::string> paths) {
  for (const std::string &path : paths) {
    const std::string file = std::filesystem::path(path).filename();
    Record record;
    record.device = device;
    for (const Suite::Module &module : suite_of(file.substr(0, file.find('-')), "sm_90").modules)
      pack_module(module, folder, record);
    if (const std::string why = write_record(path, record); !why.empty())
      throw std::runtime_error(why);
    fmt::print("{}: {} entries, {} bytes\n", path, record.entries.size(),
               std::filesystem::file_size(path));
  }
  return 0;
}

/// Compares what the runner left, of which a record may keep but a hash, and shows words that
/// differ.
int compare(const std::filesystem::path &folder, const std::string &suite_name) {
  std::size_t launches = 0, differing = 0;
  for (const Suite suite = suite_of(suite_name, "sm_90");
       const Suite::Module &module : suite.modules) {
    std::ifstream file(folder / (module.name + ".results"), std::ios::binary);
    const Bytes results{std::istreambuf_iterator<char>(file), {}};
    const auto parsed = parse(module.text, module.name);
    if (!parsed)
      throw std::runtime_error(format(parsed.error()));
    const WarpProgram program(**parsed);
    std::size_t at = 0;
    for (const Item &item : module.items) {
      if (at >= results.size()) {
        fmt::print("{}: did not run\n", item.name);
        continue;
      }
      if (results[at++] == 0) {
        fmt::print("{}: refused\n", item.name);
        continue;
      }
      ++launches;
      const std::size_t size = result_bytes(item.launch);
      const Emulated mine = emulate(program, item.launch);
      const auto word = [](const std::uint8_t *bytes) {
        std::uint32_t value = 0;
        std::memcpy(&value, bytes, sizeof value);
        return value;
      };
      std::size_t wrong = 0;
      std::string shown;
      for (std::size_t i = 0; mine.fault.empty() && i + 4 <= size && at + i + 4 <= results.size();
           i += 4) {
        const std::uint32_t a = word(mine.bytes.data() + i), b = word(results.data() + at + i);
        if (a != b && ++wrong <= 8)
          shown += fmt::format(" {}: {:08x} not {:08x}", i / 4, a, b);
      }
      at += size;
      differing += wrong != 0 || !mine.fault.empty();
      if (wrong != 0 || !mine.fault.empty())
        fmt::print("{}: {} of {} words differ{} {}\n", item.name, wrong, size / 4, shown,
                   mine.fault);
    }
  }
  fmt::print("{} launches, {} differ\n", launches, differing);
  return differing == 0 ? 0 : 1;
}

/// Runs everything without comparing: what cannot be emulated, what it does wrong.
int dry(std::span<const std::string> chosen) {
  int failed = 0;
  std::vector<std::string_view> names(chosen.begin(), chosen.end());
  if (names.empty())
    names.assign(std::begin(suite_names), std::end(suite_names));
  for (const std::string_view name : names)
    for (const Suite suite = suite_of(name, "sm_90"); const Suite::Module &module : suite.modules) {
      const auto parsed = parse(module.text, module.name);
      if (!parsed)
        throw std::runtime_error(format(parsed.error()));
      const WarpProgram program(**parsed);
      for (const Item &item : module.items)
        if (const Emulated emulated = emulate(program, item.launch); !emulated.fault.empty()) {
          fmt::print("{}: {}\n", item.name, emulated.fault);
          ++failed;
        }
    }
  return failed ? 1 : 0;
}

/// Runs every nth launch by the interpreter and by translated code: their results are equal, to the
/// bit, in what is approximate as well.
int engines(const std::string &suite_name, std::size_t step) {
  std::size_t launches = 0, differing = 0, at = 0;
  for (const Suite suite = suite_of(suite_name, "sm_90");
       const Suite::Module &module : suite.modules) {
    const auto parsed = parse(module.text, module.name);
    if (!parsed)
      throw std::runtime_error(format(parsed.error()));
    const WarpProgram interpreted(**parsed), translated(**parsed);
    for (const Item &item : module.items) {
      if (at++ % step != 0)
        continue;
      if (const auto chosen = choose_engine(Engine::interpreter); !chosen)
        throw std::runtime_error(chosen.error());
      const Emulated first = emulate(interpreted, item.launch);
      if (const auto chosen = choose_engine(Engine::translated); !chosen) {
        fmt::print("{}\n", chosen.error());
        return 77;
      }
      const Emulated second = emulate(translated, item.launch);
      ++launches;
      if (first.bytes == second.bytes && first.fault == second.fault)
        continue;
      ++differing;
      std::size_t n = 0;
      while (n < std::min(first.bytes.size(), second.bytes.size()) &&
             first.bytes[n] == second.bytes[n])
        ++n;
      fmt::print("{}: from byte {} on{}{}\n", item.name, n, second.fault.empty() ? "" : ", ",
                 second.fault);
    }
  }
  fmt::print("{} launches, {} differ\n", launches, differing);
  return launches == 0 || differing != 0 ? 1 : 0;
}

struct Totals {
  unsigned equal = 0, approximate = 0, differ = 0, failed = 0, open = 0, refused = 0, uncovered = 0;
  unsigned long results = 0;
};

/// Compares; true if the emulator computes what the GPU did.
class Checker {
public:
  Checker(const Record &record, bool verbose)
      : record_(record), verbose_(verbose),
        approximations_(read_approximations(own_folder + "/approximate.txt")) {
    for (const Record::Entry &entry : record.entries)
      by_name_[entry.name] = &entry;
    std::ifstream open(own_folder + "/open.txt");
    for (std::string line; std::getline(open, line);)
      if (!line.empty() && line[0] != '#')
        open_.insert(line);
  }

  bool check(const Suite &suite) {
    for (const Suite::Module &module : suite.modules) {
      const auto parsed = parse(module.text, module.name);
      if (!parsed) {
        fmt::print("{}", format(parsed.error()));
        return false;
      }
      const WarpProgram program(**parsed);
      for (const Item &item : module.items)
        check(program, item);
    }
    return totals.differ + totals.failed == 0;
  }

  Totals totals;
  std::map<std::string, double> errors; ///< largest, by approximate instruction

private:
  void check(const WarpProgram &program, const Item &item) {
    const auto found = by_name_.find(item.name);
    if (found == by_name_.end() || found->second->fingerprint != item.fingerprint) {
      ++totals.uncovered;
      if (verbose_)
        fmt::print("not recorded: {}\n", item.name);
      return;
    }
    const Record::Entry &entry = *found->second;
    if (entry.refused) {
      ++totals.refused;
      return;
    }
    const Emulated emulated = emulate(program, item.launch);
    if (!emulated.fault.empty()) {
      const bool known = open_.contains(item.name);
      ++(known ? totals.open : totals.failed);
      if (!known || verbose_)
        fmt::print("{}: {}\n", item.name, emulated.fault);
      return;
    }
    const std::string mine = recorded_form(item, emulated.bytes);
    if (item.variant)
      compare(item, mine, entry.bytes);
    else
      compare_kernel(item, mine, entry.bytes);
  }

  void compare(const Item &item, const std::string &mine, const std::string &hardware) {
    const Variant &variant = *item.variant;
    totals.results += variant.sets;
    const auto approximation = approximations_.find(item.name.substr(0, item.name.find(' ')));
    if (mine == hardware) {
      ++totals.equal;
      if (approximation != approximations_.end())
        errors[item.name] = 0;
      return;
    }
    unsigned differing = 0, first = variant.sets;
    double largest = 0;
    for (unsigned set = 0; set < variant.sets; ++set) {
      if (is_undefined(variant, operands_of(item, set)))
        continue;
      for (std::size_t r = 0; r < variant.results.size(); ++r) {
        const std::uint64_t a = recorded_number(variant, mine, r, set);
        const std::uint64_t b = recorded_number(variant, hardware, r, set);
        if (a == b)
          continue;
        if (approximation != approximations_.end()) {
          const double error = distance(approximation->second, a, b);
          largest = std::max(largest, error);
          if (error <= approximation->second.bound)
            continue;
        }
        ++differing;
        first = std::min(first, set);
        if (verbose_ && differing <= 12)
          fmt::print("{}\n", example(item, mine, hardware, set));
        break;
      }
    }
    if (approximation != approximations_.end())
      errors[item.name] = largest;
    if (differing == 0) {
      ++(approximation == approximations_.end() ? totals.equal : totals.approximate);
      return;
    }
    ++totals.differ;
    fmt::print("{}: {} of {} sets differ, {}\n", item.name, differing, variant.sets,
               example(item, mine, hardware, first));
  }

  static std::vector<std::uint64_t> operands_of(const Item &item, unsigned set) {
    std::vector<std::uint64_t> list;
    for (std::size_t k = 0; k < item.variant->operands.size(); ++k) {
      std::uint64_t value = 0;
      std::memcpy(&value,
                  item.launch.arguments[0].contents->data() + set * set_stride + k * operand_stride,
                  operand_bytes(item.variant->operands[k]));
      list.push_back(value);
    }
    return list;
  }

  static std::string example(const Item &item, const std::string &mine, const std::string &hardware,
                             unsigned set) {
    const Variant &variant = *item.variant;
    std::string text = fmt::format("set {}:", set);
    for (const std::uint64_t value : operands_of(item, set))
      text += fmt::format(" {:#x}", value);
    for (const auto &[who, bytes] : {std::pair{"emulated", &mine}, {"hardware", &hardware}}) {
      text += fmt::format(", {}", who);
      for (std::size_t r = 0; r < variant.results.size(); ++r)
        text += fmt::format(" {:#x}", recorded_number(variant, *bytes, r, set));
    }
    return text;
  }

  void compare_kernel(const Item &item, const std::string &mine, const std::string &hardware) {
    totals.results += mine.size();
    if (mine.size() == hardware.size() &&
        std::memcmp(mine.data(), hardware.data(), mine.size()) == 0) {
      ++totals.equal;
      return;
    }
    const auto approximation = approximations_.find(item.launch.kernel);
    const unsigned step = approximation == approximations_.end()
                              ? 1
                              : bit_width(scalar_type(approximation->second.type)) / 8;
    std::size_t differing = 0, first = mine.size();
    double largest = 0;
    for (std::size_t i = 0; i + step <= std::min(mine.size(), hardware.size()); i += step) {
      std::uint64_t a = 0, b = 0;
      std::memcpy(&a, mine.data() + i, step);
      std::memcpy(&b, hardware.data() + i, step);
      if (a == b)
        continue;
      if (approximation != approximations_.end()) {
        const double error = distance(approximation->second, a, b);
        largest = std::max(largest, error);
        if (error <= approximation->second.bound)
          continue;
      }
      ++differing;
      first = std::min(first, i);
    }
    if (approximation != approximations_.end())
      errors[item.launch.kernel] = largest;
    if (differing == 0 && mine.size() == hardware.size()) {
      ++totals.approximate;
      return;
    }
    ++totals.differ;
    fmt::print("{}: {} of {} bytes differ, the first is {}; largest error {}\n", item.name,
               differing * step, mine.size(), first, largest);
  }

  const Record &record_;
  const bool verbose_;
  const std::map<std::string, Approximation> approximations_;
  std::map<std::string, const Record::Entry *> by_name_;
  std::set<std::string> open_;
};

/// The suite that a record is of, by its first entry.
std::string_view suite_recorded(const Record &record) {
  for (const std::string_view name : suite_names)
    for (const Suite suite = suite_of(name, "sm_90"); const Suite::Module &module : suite.modules)
      for (const Item &item : module.items)
        if (!record.entries.empty() && record.entries[0].name == item.name)
          return name;
  throw std::runtime_error("a record of nothing that there is");
}

int check(const std::string &path, bool verbose, bool measure) {
  Record record;
  if (const std::string why = read_record(path, record); !why.empty())
    throw std::runtime_error(why);
  const std::string_view kind = suite_recorded(record);
  Checker checker(record, verbose);
  const bool right = checker.check(suite_of(kind, "sm_90"));
  if (measure)
    for (const auto &[name, error] : checker.errors)
      fmt::print("{:<28} {:.4g}\n", name, error);
  const Totals &t = checker.totals;
  fmt::print("{}: {} {}: {} equal to the bit, {} within the listed error, {} differ, {} fail, {} "
             "are refused as listed; not recorded: {} that ptxas refuses, {} others\n",
             record.device, t.equal + t.approximate + t.differ + t.failed + t.open,
             kind == "kernels" ? "launches" : "instructions", t.equal, t.approximate, t.differ,
             t.failed, t.open, t.refused, t.uncovered);
  return right ? 0 : 1;
}

} // namespace

int main(int argc, char **argv) {
  const std::vector<std::string> words(argv + 1, argv + argc);
  const std::string command = words.empty() ? "" : words[0];
  try {
    if (command == "list" && words.size() == 1)
      return list();
    if (command == "dry")
      return dry(std::span(words).subspan(1));
    if (command == "prepare" && words.size() > 3)
      return prepare(words[1], words[2], std::span(words).subspan(3));
    if (command == "pack" && words.size() > 3)
      return pack(words[1], words[2], std::span(words).subspan(3));
    if (command == "check" && (words.size() == 2 || (words.size() == 3 && words[2] == "-v")))
      return check(words[1], words.size() == 3, false);
    if (command == "compare" && words.size() == 3)
      return compare(words[1], words[2]);
    if (command == "measure" && words.size() == 2)
      return check(words[1], false, true);
    if (command == "engines" && (words.size() == 2 || words.size() == 3))
      return engines(words[1], words.size() == 3 ? std::stoul(words[2]) : 1);
  } catch (const std::exception &error) {
    fmt::print(stderr, "conformance: {}\n", error.what());
    return 2;
  }
  fmt::print(stderr, "usage: conformance list | dry [SUITE...] | compare FOLDER SUITE | prepare "
                     "FOLDER TARGET SUITE... | pack FOLDER DEVICE "
                     "RECORD... | check RECORD [-v] | measure RECORD | engines SUITE [N]\n");
  return 2;
}
