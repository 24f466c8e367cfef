// What is found is told once a place: a loop that launches a faulty kernel a thousand times has one
// fault.

#include "wrapper/runtime/findings.h"

#include "wrapper/lint/places.h"
#include "wrapper/runtime/device.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <execinfo.h>
#include <fcntl.h>
#include <fmt/core.h>
#include <unistd.h>

namespace ptxasw::wrapper {
namespace {

std::string quoted(std::string_view text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\')
      result += '\\';
    if (static_cast<unsigned char>(c) < 0x20)
      result += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
    else
      result += c;
  }
  return result + '"';
}

/// File and line of the source, of the instruction at a line of the PTX.
std::string source_of(const Module &module, std::uint32_t line) {
  const Places places(module);
  for (const Function &function : module.functions)
    for (const Instruction &instruction : function.instructions)
      if (instruction.line == line) {
        if (const auto place = places.of(instruction))
          return fmt::format(",\"file\":{},\"line\":{}", quoted(place->file), place->line);
      }
  return {};
}

std::string place_of(const Module &module, const WarpFault &fault) {
  return fmt::format(
      "\"kernel\":{},\"ptx_line\":{},\"block\":[{},{},{}],\"thread\":[{},{},{}],\"message\":{}{}",
      quoted(fault.kernel), fault.line, fault.block[0], fault.block[1], fault.block[2],
      fault.thread[0], fault.thread[1], fault.thread[2], quoted(fault.message),
      source_of(module, fault.line));
}

/// Where a byte of shared memory is: in a variable, or behind the last one before it.
std::string shared_variable_at(std::uint64_t offset, const std::vector<VariableBytes> &variables) {
  const VariableBytes *best = nullptr;
  for (const VariableBytes &variable : variables)
    if (variable.begin <= offset && (!best || variable.begin > best->begin))
      best = &variable;
  if (!best || best->name.empty())
    return {};
  return offset < best->end
             ? fmt::format("byte {} of `{}`", offset - best->begin, best->name)
             : fmt::format("{} bytes behind the end of `{}`", offset - best->end, best->name);
}

} // namespace

Checks::Checks() {
  const char *const words = std::getenv("PTXASW_RUNTIME_CHECK");
  const char *const file = std::getenv("PTXASW_RUNTIME_FINDINGS");
  if (!words || !file)
    return;
  const std::string list = fmt::format(",{},", words);
  const auto wants = [&](const char *word) {
    return list.find(fmt::format(",{},", word)) != std::string::npos;
  };
  memory = wants("memcheck");
  races = wants("racecheck");
  initialised = wants("initcheck");
  barriers = wants("synccheck");
  leaks = wants("leakcheck");
  file_ = ::open(file, O_WRONLY | O_APPEND | O_CLOEXEC);
  write("{}"); // somebody is here
  if (const char *const most = std::getenv("PTXASW_RUNTIME_STOP"))
    stop_after = std::strtoull(most, nullptr, 10);
  if (leaks)
    std::atexit([] {
      Device &all = device();
      if (all.is_lost()) // then nothing could be freed
        return;
      for (const auto &[address, block] : all.allocations().all())
        if ((block.kind == MemoryKind::device && !block.asleep) ||
            block.kind == MemoryKind::managed)
          all.checks().report_call("leak", fmt::format("{} is never freed", block.name), {},
                                   block.made);
    });
}

Checks::~Checks() = default;

CallSite Checks::here() const {
  CallSite site;
  if (!any())
    return site;
  void *frames[24];
  const int count = ::backtrace(frames, 24);
  Dl_info own{};
  ::dladdr(reinterpret_cast<void *>(&quoted), &own);
  for (int i = 0; i < count && site.returns.size() < 8; ++i) {
    Dl_info info{};
    // Of the shared library, its own frames are not the program's.
    if (::dladdr(frames[i], &info) != 0 && info.dli_fbase == own.dli_fbase && own.dli_fname &&
        (std::strstr(own.dli_fname, "libcudart") || std::strstr(own.dli_fname, "libcuda.so")))
      continue;
    site.returns.push_back(reinterpret_cast<std::uint64_t>(frames[i]));
  }
  return site;
}

std::string Checks::sites(const char *name, const CallSite &site) const {
  std::string text;
  for (const std::uint64_t address : site.returns) {
    Dl_info info{};
    if (::dladdr(reinterpret_cast<void *>(address), &info) == 0 || !info.dli_fname)
      continue;
    const std::uint64_t offset = address - reinterpret_cast<std::uint64_t>(info.dli_fbase);
    text += fmt::format("{}[{},{},{},{}]", text.empty() ? "" : ",", quoted(info.dli_fname), offset,
                        address, quoted(info.dli_sname ? info.dli_sname : ""));
  }
  return fmt::format(",\"{}\":[{}]", name, text);
}

void Checks::write(const std::string &line) {
  if (!any() || !told_.insert(line).second)
    return;
  const std::string text = line + "\n";
  if (::write(file_, text.data(), text.size()) < 0)
    return;
  if (stop_after != 0 && ++count_ >= stop_after) {
    std::fflush(nullptr);
    ::_exit(1);
  }
}

// Where a fault is: in an allocation, in one that was freed, or beside the nearest one.
std::string Checks::memory_at(const WarpFault &fault,
                              const std::vector<VariableBytes> &shared) const {
  const std::uint64_t address = fault.address;
  constexpr std::uint64_t near = 1 << 20;
  const Allocations &allocations = device().allocations();
  const auto told = [&](const std::string &what, const CallSite &made) {
    return fmt::format(",\"memory\":{}{}", quoted(what), sites("made", made));
  };
  if (address >= window::shared && address < window::shared + window::size) {
    const std::string variable = shared_variable_at(address - window::shared, shared);
    return variable.empty() ? variable : told(variable, {});
  }
  if (const auto *inside = allocations.find(reinterpret_cast<const void *>(address));
      inside && !inside->second.asleep)
    return told(fmt::format("byte {} of {}", address - inside->first, inside->second.name),
                inside->second.made);
  if (const auto *ended = find_ended(address))
    return told(fmt::format("byte {} of {}, which was freed", address - ended->first,
                            ended->second.name),
                ended->second.made) +
           sites("freed", ended->second.ended);
  // What kernels have allocated; released ones have no size.
  const GlobalMemory::Allocation *inside = nullptr;
  for (const GlobalMemory::Allocation &one : device().memory().allocations())
    if (one.name.starts_with("malloc") && !one.is_host && one.made <= fault.memory_changes &&
        one.base <= address && address - one.base < std::max(one.size, near) &&
        (!inside || inside->base < one.base))
      inside = &one;
  if (inside && (inside->size == 0 || address - inside->base < inside->size))
    return told(fmt::format("byte {} of {}{}", address - inside->base, inside->name,
                            inside->released <= fault.memory_changes ? ", which was freed" : ""),
                {});
  const auto &blocks = allocations.all();
  const auto above = blocks.upper_bound(address);
  const auto *before = above == blocks.begin() ? nullptr : &*std::prev(above);
  const auto *behind = above == blocks.end() ? nullptr : &*above;
  const std::uint64_t out = before ? address - before->first - before->second.size : near;
  const std::uint64_t missing = behind ? behind->first - address : near;
  if (out < near && out <= missing)
    return told(fmt::format("{} bytes behind the end of {}", out, before->second.name),
                before->second.made);
  if (missing < near)
    return told(fmt::format("{} bytes before {}", missing, behind->second.name),
                behind->second.made);
  return {};
}

void Checks::report(const Module &module, const std::string &kind, const WarpFault &fault,
                    const std::vector<VariableBytes> &shared) {
  WarpFault told = fault;
  if (!fault.others.empty() && fault.kind == FaultKind::race)
    told.message = fmt::format("{} {:#x} and an earlier {} there are not ordered",
                               fault.message.starts_with("store") ? "store to" : "load of",
                               fault.address, fault.others[0].message);
  std::string line = fmt::format("{{\"kind\":{},{}", quoted(kind), place_of(module, told));
  if (!fault.others.empty())
    line += fmt::format(",\"other\":{{{}}}", place_of(module, fault.others[0]));
  if (fault.address != 0)
    line += memory_at(fault, shared);
  write(line + "}");
}

void Checks::note_run(bool whole) {
  bool &noted = whole ? noted_run_ : noted_left_;
  if (!noted)
    write(whole ? "{\"ran\":true}" : "{\"left\":true}");
  noted = true;
}

void Checks::report_call(const std::string &kind, const std::string &message, const CallSite &where,
                         const CallSite &made) {
  write(fmt::format("{{\"kind\":{},\"message\":{}{}{}}}", quoted(kind), quoted(message),
                    sites("call", where), sites("made", made)));
}

void Checks::note_end(std::uint64_t address, std::uint64_t size, const std::string &name,
                      const CallSite &made) {
  if (any())
    ended_[address] = {size, name, made, here()};
}

const std::pair<const std::uint64_t, Checks::Ended> *
Checks::find_ended(std::uint64_t address) const {
  auto above = ended_.upper_bound(address);
  if (above == ended_.begin())
    return nullptr;
  --above;
  return address - above->first < std::max<std::uint64_t>(above->second.size, 1) ? &*above
                                                                                 : nullptr;
}

} // namespace ptxasw::wrapper
