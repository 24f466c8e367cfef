// A CUDA driver that launches nothing and writes down what it was asked for, so that every way in
// which programs reach cuLaunchKernel is tested without a GPU. An image is text:
//
//   fake
//   kernel NAME MICROSECONDS WRITES BYTES...   a kernel, its time, what it adds, its parameters
//   table KERNEL JSON                          KERNEL__ptxasw_siblings
//   raw KERNEL HEXADECIMAL                     the same with bytes as they are
//
// PTX and fat binaries are loaded, too. Of PTX a kernel's name, parameters and the module's
// `.global` and `.const` variables count; it takes 100 microseconds, FAKE_VERSION_US one whose name
// says that it is a version, and adds 1, or 2 if there is a comment `// wrong`. Of a fat binary it
// takes the entry that is machine code, which is text as above or PTX, or else that which is PTX;
// packed ones it does not know.
//
// Time is a counter that launches move on, so measuring is exact. A kernel with three parameters of
// 8, 8 and 4 bytes (to, from, n) that writes W does to[i] = from[i] + W if `to` is an allocation.
// Handles are reused at once: what is unloaded last, or ends with its context, is what the next
// load gets.
//
// FAKE_QUEUE_US: launches also take so many microseconds by the clock, one after the other. A
// launch for which more than 256 would wait waits for room.
//
// FAKE_GPU, FAKE_SM: the name of the first GPU, and the compute capability of all (`Fake GPU`, 90).
//
// FAKE_NEWER: also exports functions that a driver of the future may have.

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <fstream>
#include <iterator>
#include <list>
#include <map>
#include <mutex>
#include <sstream>
#include <string>
#include <thread>
#include <unistd.h>
#include <utility>
#include <vector>

namespace {

using Result = int;
constexpr Result success = 0, invalid_value = 1, no_context = 201, invalid_handle = 400,
                 not_found = 500, not_ready = 600, refused = 701, capture_unsafe = 900,
                 capture_implicit = 906;
void *const legacy = reinterpret_cast<void *>(1); ///< CU_STREAM_LEGACY
/// Bytes that a block may have: of any function, and of one that is allowed them.
constexpr int default_shared = 49152, most_shared = 232448;

struct Owner;

/// A function or a kernel: the same to cuLaunchKernel, and different to everything else.
struct Function {
  std::uint64_t kind = 0; ///< 1: of a module, 2: of a library, 0: free
  Owner *owner = nullptr;
  std::string name;
  double microseconds = 0;
  int writes = 0;
  std::vector<int> parameters;
  bool loaded = false; ///< its code
  /// Bytes of dynamic shared memory that it may be launched with, by device; a module has one.
  int most_dynamic[2] = {default_shared, default_shared};
};

struct Context {
  int device = 0;
  std::atomic<int> asked = 0; ///< threads that are asking about an event of it just now
};

/// A module or a library.
struct Owner {
  std::uint64_t kind = 0;
  std::map<std::string, Function *> functions;
  std::map<std::string, std::string> globals;
  Context *context = nullptr; ///< in which it was loaded
};

struct Event {
  Context *context = nullptr; ///< null: it has ended, and the event with it
  double time = 0;
  bool pending = false;
};

struct Stream {
  bool capturing = false;
  Context *context = nullptr;
};

struct Node {
  Function *function = nullptr;
  unsigned grid[3]{}, block[3]{}, shared = 0;
  std::vector<std::vector<unsigned char>> values;
  std::vector<void *> pointers;
};

std::mutex mutex;
std::list<Function> functions;
std::vector<Function *> free_functions;
std::list<Owner> owners;
std::vector<Owner *> free_owners;
std::list<Event> events;
std::list<Node> nodes;
std::map<std::uint64_t, std::size_t> allocations;
std::string history;
double now = 0;
unsigned noise = 1;
Context contexts[4] = {{0}, {1}, {0}, {1}};
thread_local Context *current = &contexts[0];
int holders[2] = {0, 0}; ///< of the primary contexts
bool stuck = false;      ///< who asks for a function's module, or a GPU's name, never comes back
std::atomic<bool> has_stuck = false; ///< somebody did
thread_local int capture_mode = 0;   // global
bool anybody_captures = false;
bool late = false;  ///< events stay pending until cuStreamSynchronize
bool timed = false; ///< launches take the time they say, one after the other, behind the program
double host = 0; ///< milliseconds that the program has taken, by what it called: no clock is asked
double event_time = 0;                      ///< milliseconds that an event takes
void *spinning = nullptr;                   ///< a stream on which a kernel waits for the program
std::string refuse;                         ///< the name of a kernel that is not launched
std::atomic<int> slowly = 0;                ///< milliseconds that a question about an event takes
std::atomic<void (*)()> meanwhile{nullptr}; ///< happens while the next launch is under way

/// Milliseconds since the GPU takes its time, after one more call. Who asks if an event has come
/// waits in between; all other calls take next to nothing.
double elapsed(bool asked = false) { return host += asked ? 4 : 0.002; }

void stay_if_stuck() {
  while (stuck) {
    has_stuck = true;
    ::pause();
  }
}

void note(const std::string &line) { history += line + "\n"; }

/// What a driver may refuse while a stream is being captured.
bool unsafe() {
  if (!anybody_captures || capture_mode == 2)
    return false;
  note("UNSAFE");
  return true;
}

/// What waits until nothing runs any more would wait forever for what waits for the program.
Result wait_for_running() {
  if (spinning)
    note("HANGS");
  return success;
}

/// FAKE_LOAD_MS: what loading code takes, by the clock.
void load_slowly() {
  if (const char *const given = std::getenv("FAKE_LOAD_MS"))
    ::usleep(static_cast<unsigned>(std::atoi(given)) * 1000);
}

/// A launch loads the code of a function, too.
const bool lazy = std::getenv("FAKE_LAZY") != nullptr;

template <typename Thing> Thing *take(std::list<Thing> &all, std::vector<Thing *> &free) {
  if (!free.empty()) {
    Thing *const thing = free.back();
    free.pop_back();
    return thing;
  }
  all.emplace_back();
  return &all.back();
}

Function *function_of(void *handle) {
  auto *const function = static_cast<Function *>(handle);
  return function && (function->kind == 1 || function->kind == 2) ? function : nullptr;
}

/// The text in a fat binary or behind the wrapper of one; of anything else the image itself.
const char *text_in(const void *image) {
  const auto *bytes = static_cast<const char *>(image);
  const auto number = [](const char *at, auto like) {
    std::memcpy(&like, at, sizeof like);
    return like;
  };
  if (std::strncmp(bytes, "\xb1\x43\x62\x46", 4) == 0)
    bytes = number(bytes + 8, bytes);
  if (std::strncmp(bytes,
                   "\x7f"
                   "ELF",
                   4) == 0)
    return bytes + 64;
  if (std::strncmp(bytes, "\x50\xed\x55\xba", 4) != 0)
    return bytes;
  const char *text = "";
  const char *const end = bytes + 16 + number(bytes + 8, std::uint64_t{});
  for (const char *entry = bytes + 16; entry < end;) {
    const char *const stored = entry + number(entry + 4, std::uint32_t{});
    if (number(entry, std::uint16_t{}) == 2 || !*text)
      text = stored;
    entry = stored + number(entry + 8, std::uint64_t{});
  }
  return text;
}

double version_time() {
  const char *const given = std::getenv("FAKE_VERSION_US");
  return given ? std::atof(given) : 60;
}

/// The kernels and variables of PTX.
void load_ptx(const std::string &text, Owner &owner, std::uint64_t kind) {
  const auto name_at = [&](std::size_t at) {
    const std::size_t end = text.find_first_of(" \t\n(),;[=", at);
    return text.substr(at, end - at);
  };
  for (std::size_t at = text.find(".entry "); at != std::string::npos;
       at = text.find(".entry ", at + 1)) {
    Function *const function = take(functions, free_functions);
    const std::string name = name_at(at + 7);
    const bool version = name.find("__ptxasw_") != std::string::npos;
    *function = {kind,
                 &owner,
                 name,
                 version ? version_time() : 100,
                 text.find("// wrong") == std::string::npos ? 1 : 2,
                 {}};
    const std::size_t body = text.find('{', at);
    for (std::size_t parameter = text.find(".param .", at); parameter < body;
         parameter = text.find(".param .", parameter + 1))
      function->parameters.push_back(std::atoi(text.c_str() + parameter + 9) / 8);
    owner.functions[name] = function;
  }
  for (const char *const space : {".global .", ".const ."})
    for (std::size_t at = text.find(space); at != std::string::npos; at = text.find(space, at + 1))
      if (const std::size_t end = text.find_first_of("[=;", at); end != std::string::npos)
        owner.globals[name_at(text.find_last_of(" \t", end) + 1)] = std::string(
            text[end] == '[' ? static_cast<std::size_t>(std::atoi(text.c_str() + end + 1)) : 4,
            '\0');
}

Result load(void **result, const void *image, std::uint64_t kind) {
  const std::lock_guard lock(mutex);
  const std::string text = text_in(image);
  if (text.rfind(".version", 0) == 0 || text.rfind("//", 0) == 0)
    note("ptx " + std::to_string(text.size()));
  else if (text.rfind("fake", 0) != 0)
    return 200;
  if (text.find("unloadable") != std::string::npos)
    return 218;
  Owner *const owner = take(owners, free_owners);
  *owner = {kind, {}, {}, current};
  if (text.rfind("fake", 0) != 0)
    load_ptx(text, *owner, kind);
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string word, name;
    words >> word >> name;
    if (word == "kernel") {
      Function *const function = take(functions, free_functions);
      *function = {kind, owner, name, 0, 0, {}};
      words >> function->microseconds >> function->writes;
      for (int bytes = 0; words >> bytes;)
        function->parameters.push_back(bytes);
      owner->functions[name] = function;
    } else if (word == "table" || word == "raw") {
      std::string rest;
      std::getline(words >> std::ws, rest);
      std::string bytes;
      if (word == "table") {
        bytes.assign("PTXASWS\0\2\0\0\0", 12);
        for (unsigned shift = 0; shift < 32; shift += 8)
          bytes += static_cast<char>(rest.size() >> shift & 0xff);
        bytes += rest;
      } else {
        for (std::size_t i = 0; i + 1 < rest.size(); i += 2)
          bytes += static_cast<char>(std::stoi(rest.substr(i, 2), nullptr, 16));
      }
      owner->globals[name + "__ptxasw_siblings"] = bytes;
    }
  }
  *result = owner;
  return success;
}

void end_owner(Owner *owner) {
  // From the back, so that the next image that is alike gets them the other way round.
  for (auto &[name, function] : owner->functions) {
    function->kind = 0;
    free_functions.push_back(function);
  }
  *owner = {};
  free_owners.push_back(owner);
}

Result unload(void *handle) {
  const std::lock_guard lock(mutex);
  end_owner(static_cast<Owner *>(handle));
  note("unload");
  return success;
}

/// The end of a context: of its modules, too, and of no library.
Result end_context(const void *context) {
  const std::lock_guard lock(mutex);
  for (Owner &owner : owners)
    if (owner.kind == 1 && owner.context == context)
      end_owner(&owner);
  for (Event &event : events)
    if (event.context && event.context == context)
      event.context = nullptr;
  if (static_cast<const Context *>(context)->asked != 0)
    note("ENDS WHILE ASKED");
  return success;
}

/// An event that has not ended; using another would be the end of a real driver.
Event &living(void *handle) {
  auto *const event = static_cast<Event *>(handle);
  if (!event->context) {
    std::fputs("an event of a context that has ended is used\n", stderr);
    std::abort();
  }
  return *event;
}

Result release_primary(int device) {
  if (holders[device] > 0 && --holders[device] == 0)
    return end_context(&contexts[device]);
  return success;
}

Result get_function(void **result, void *handle, const char *name) {
  const std::lock_guard lock(mutex);
  auto *const owner = static_cast<Owner *>(handle);
  const auto found = owner->functions.find(name);
  if (found == owner->functions.end())
    return not_found;
  *result = found->second;
  return success;
}

Result get_global(std::uint64_t *address, std::size_t *bytes, void *handle, const char *name) {
  const std::lock_guard lock(mutex);
  auto *const owner = static_cast<Owner *>(handle);
  const auto found = owner->globals.find(name);
  if (found == owner->globals.end())
    return not_found;
  *address = reinterpret_cast<std::uint64_t>(found->second.data());
  *bytes = found->second.size();
  return success;
}

Result attribute(int *value, int number, Function *function, int device = 0) {
  if (!function)
    return invalid_handle;
  *value = number == 0   ? (function->name.find("narrow") != std::string::npos ? 128 : 1024)
           : number == 8 ? function->most_dynamic[device]
                         : 0;
  // FAKE_LOCAL: the local memory of kernels that are no versions.
  if (const char *const local = std::getenv("FAKE_LOCAL");
      local && number == 3 && function->name.find("__ptxasw_") == std::string::npos)
    *value = std::atoi(local);
  return success;
}

Result set_attribute(Function *function, int number, int value, int device) {
  if (!function)
    return invalid_handle;
  const std::lock_guard lock(mutex);
  if (number != 8 || value > most_shared || value < 0)
    return invalid_value;
  if (!refuse.empty() && function->name.find(refuse) != std::string::npos)
    return refused;
  note("allow " + function->name + " " + std::to_string(value) + " device" +
       std::to_string(device));
  function->most_dynamic[device] = value;
  return success;
}

template <typename Number> Number argument(const std::vector<unsigned char> &bytes) {
  Number number = 0;
  std::memcpy(&number, bytes.data(), sizeof number);
  return number;
}

/// What the kernel does, on the host.
void execute(const Function &function, const std::vector<std::vector<unsigned char>> &values) {
  if (function.parameters.size() < 3 || function.parameters[0] != 8 ||
      function.parameters[1] != 8 || function.parameters[2] != 4 || function.writes == 0)
    return;
  if (!allocations.contains(argument<std::uint64_t>(values[0])))
    return;
  auto *const to = argument<std::int32_t *>(values[0]);
  auto *const from = argument<const std::int32_t *>(values[1]);
  for (unsigned i = 0; i < argument<unsigned>(values[2]); ++i)
    to[i] = from[i] + function.writes;
}

/// A variable's name if it is an argument's value.
std::string name_of(std::uint64_t address) {
  for (const Owner &owner : owners)
    for (const auto &[name, bytes] : owner.globals)
      if (reinterpret_cast<std::uint64_t>(bytes.data()) == address)
        return "&" + name;
  return "*";
}

/// Of a launch in blocks of that shape, microseconds: FAKE_BLOCK_US may say `128x1x1 40`, of
/// kernels that are no versions.
double time_of(const Function &function, const unsigned *block) {
  const char *const given = std::getenv("FAKE_BLOCK_US");
  unsigned x = 0, y = 0, z = 0;
  double time = 0;
  return given && std::sscanf(given, "%ux%ux%u %lf", &x, &y, &z, &time) == 4 && block[0] == x &&
                 block[1] == y && block[2] == z &&
                 function.name.find("__ptxasw_") == std::string::npos
             ? time
             : function.microseconds;
}

using Clock = std::chrono::steady_clock;
Clock::time_point busy_until; ///< with FAKE_QUEUE_US

void queue_launch() {
  static const char *const given = std::getenv("FAKE_QUEUE_US");
  if (!given)
    return;
  constexpr int most = 256;
  const std::chrono::microseconds one(std::atoi(given));
  std::this_thread::sleep_until(busy_until - most * one);
  busy_until = std::max(busy_until, Clock::now()) + one;
}

/// For measuring what the helper costs: launches do nothing.
const bool idle = std::getenv("FAKE_IDLE") != nullptr;

Result launch(const char *hook, void *handle, const unsigned *grid, const unsigned *block,
              unsigned shared, void *stream, void **parameters, void **extra) {
  if (idle)
    return success;
  const std::lock_guard lock(mutex);
  if (!current)
    return no_context;
  Function *const function = function_of(handle);
  if (!function)
    return invalid_handle;
  if (grid[0] == 0 || grid[1] == 0 || grid[2] == 0 || block[0] * block[1] * block[2] == 0)
    return invalid_value;
  if (static_cast<int>(shared) > function->most_dynamic[function->kind == 2 ? current->device : 0])
    return invalid_value;
  if (!refuse.empty() && function->name.find(refuse) != std::string::npos)
    return refused;
  if (lazy && !function->loaded)
    wait_for_running();
  function->loaded = true;
  std::vector<std::vector<unsigned char>> values;
  std::size_t offset = 0;
  const unsigned char *buffer = nullptr;
  std::size_t size = 0;
  for (void **word = extra; word && *word; word += 2)
    if (*word == reinterpret_cast<void *>(1))
      buffer = static_cast<const unsigned char *>(word[1]);
    else
      size = *static_cast<std::size_t *>(word[1]);
  std::string text;
  for (std::size_t i = 0; i < function->parameters.size(); ++i) {
    const auto bytes = static_cast<std::size_t>(function->parameters[i]);
    offset = (offset + bytes - 1) / bytes * bytes;
    if (!parameters && (!buffer || offset + bytes > size))
      return invalid_value;
    const unsigned char *from =
        parameters ? static_cast<const unsigned char *>(parameters[i]) : buffer + offset;
    offset += bytes;
    values.emplace_back(from, from + bytes);
    if (bytes == 4)
      text += " " + std::to_string(argument<unsigned>(values.back()));
    else
      text += " " + name_of(argument<std::uint64_t>(values.back()));
  }
  auto *const where = static_cast<Stream *>(stream);
  const bool capturing = where > reinterpret_cast<Stream *>(16) && where->capturing;
  std::ostringstream line;
  line << (capturing ? "capture " : "launch ") << function->name << " " << grid[0] << "," << grid[1]
       << "," << grid[2] << " " << block[0] << "," << block[1] << "," << block[2] << " " << shared
       << " " << hook << " device" << current->device << text;
  note(line.str());
  if (capturing) {
    nodes.push_back({function,
                     {grid[0], grid[1], grid[2]},
                     {block[0], block[1], block[2]},
                     shared,
                     values,
                     {}});
    for (auto &value : nodes.back().values)
      nodes.back().pointers.push_back(value.data());
    return success;
  }
  queue_launch();
  noise = noise * 1103515245 + 12345;
  if (timed)
    now = std::max(now, elapsed());
  now +=
      time_of(*function, block) / 1000 * (1 + 0.01 * static_cast<double>(noise >> 16 & 0xff) / 255);
  execute(*function, values);
  return success;
}

Result record(void *event, void *stream) {
  auto *const where = static_cast<Stream *>(stream);
  const std::lock_guard lock(mutex);
  if (where > reinterpret_cast<Stream *>(16) && where->capturing)
    note("RECORDED IN A CAPTURE");
  if (timed) // an idle GPU takes the event's time as it comes, not that of its last launch
    now = std::max(now, elapsed());
  Event &recorded = living(event);
  if (!where && recorded.context != current)
    note("RECORDED ELSEWHERE");
  recorded.time = now;
  recorded.pending = late;
  now += event_time;
  return success;
}

Result capturing(void *stream, int *status) {
  auto *const where = static_cast<Stream *>(stream);
  if (stream == legacy && anybody_captures)
    return capture_implicit;
  *status = where > reinterpret_cast<Stream *>(16) && where->capturing;
  return success;
}

struct Config {
  unsigned grid[3], block[3], shared;
  void *stream;
  void *attributes;
  unsigned count;
};

struct NodeParameters {
  void *function;
  unsigned grid[3], block[3], shared;
  void **parameters, **extra;
};

Result node_parameters(void *handle, NodeParameters *result) {
  auto *const node = static_cast<Node *>(handle);
  *result = {node->function,
             {node->grid[0], node->grid[1], node->grid[2]},
             {node->block[0], node->block[1], node->block[2]},
             node->shared,
             node->pointers.data(),
             nullptr};
  return success;
}

/// The library itself, as real drivers look things up in themselves.
void *self() {
  Dl_info info;
  return ::dladdr(reinterpret_cast<void *>(&self), &info)
             ? ::dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD)
             : nullptr;
}

Result find(const char *name, void **function, int version, std::uint64_t flags) {
  static const std::map<std::string, std::vector<std::pair<int, std::string>>> versions = {
      {"cuGetProcAddress", {{11030, ""}, {12000, "_v2"}}},
      {"cuCtxDestroy", {{2000, ""}, {4000, "_v2"}}},
      {"cuMemcpyDtoH", {{3020, "_v2"}}},
      {"cuLinkAddData", {{5050, ""}, {6050, "_v2"}}},
#ifdef FAKE_NEWER
      {"cuLaunchKernelEx", {{11060, ""}, {14000, "_v2"}}},
#endif
  };
  std::string symbol = name;
  if (const auto known = versions.find(name); known != versions.end()) {
    std::string suffix;
    for (const auto &[since, text] : known->second)
      if (since <= version)
        suffix = text;
    symbol += suffix;
  }
  *function = nullptr;
  // In itself, by the program's dlsym: a trap for whoever stands in front of that.
  if (flags & 2)
    *function = ::dlsym(self(), (symbol + "_ptsz").c_str());
  if (!*function)
    *function = ::dlsym(self(), symbol.c_str());
  return *function ? success : not_found;
}

} // namespace

extern "C" {

// What tests ask of the fake.
const char *fake_history() { return history.c_str(); }
void fake_clear() { history.clear(); }
void fake_set_late(int on) { late = on != 0; }
void fake_set_timed(int on) {
  timed = on != 0;
  host = now = 0;
}
void fake_set_kernel_time(const char *name, double microseconds) {
  for (Function &function : functions)
    if (function.name == name)
      function.microseconds = microseconds;
}
void fake_set_event_time(double milliseconds) { event_time = milliseconds; }
void fake_set_meanwhile(void (*happens)()) { meanwhile = happens; }
void fake_refuse(const char *name) { refuse = name; }
int fake_capture(void *stream, int on) {
  static_cast<Stream *>(stream)->capturing = on != 0;
  anybody_captures = on != 0;
  return success;
}
void *fake_node(int index) {
  auto node = nodes.begin();
  std::advance(node, index);
  return &*node;
}
double fake_now() { return now; }
/// Whether that was noted so far; other threads may launch at this time.
int fake_noted(const char *text) {
  const std::lock_guard lock(mutex);
  return history.find(text) != std::string::npos ? 1 : 0;
}
void fake_stick() { stuck = true; }
int fake_has_stuck() { return has_stuck ? 1 : 0; }
void fake_spin(void *stream) { spinning = stream; }
void fake_answer_slowly(int milliseconds) { slowly = milliseconds; }
int fake_is_asked(void *context) { return static_cast<Context *>(context)->asked; }
int fake_events() {
  const std::lock_guard lock(mutex);
  return static_cast<int>(events.size());
}
/// A stream that is made in a way that nobody sees.
void *fake_stream() { return new Stream{false, current}; }

Result cuInit(unsigned) { return success; }
Result cuDriverGetVersion(int *version) {
  *version = 13000;
  return success;
}
Result cuGetProcAddress(const char *name, void **function, int version, std::uint64_t flags) {
  return find(name, function, version, flags);
}
Result cuGetProcAddress_v2(const char *name, void **function, int version, std::uint64_t flags,
                           int *status) {
  const Result result = find(name, function, version, flags);
  if (status)
    *status = result == success ? 0 : 1;
  return result;
}

Result cuCtxCreate_v2(void **context, unsigned, int device) {
  *context = current = &contexts[2 + device];
  return success;
}
Result cuCtxDestroy(void *context) { return end_context(context); }
Result cuCtxDestroy_v2(void *context) { return end_context(context); }
Result cuCtxDetach(void *) { return success; }
Result cuCtxSetCurrent(void *context) {
  current = static_cast<Context *>(context);
  return success;
}
Result cuCtxGetCurrent(void **context) {
  *context = current;
  return success;
}
Result cuCtxGetDevice(int *device) {
  if (!current)
    return no_context;
  *device = current->device;
  return success;
}
Result cuDevicePrimaryCtxGetState(int device, unsigned *flags, int *active) {
  *flags = 0;
  *active = holders[device] > 0;
  return success;
}
Result cuDevicePrimaryCtxRetain(void **context, int device) {
  ++holders[device];
  *context = &contexts[device];
  return success;
}
Result cuDevicePrimaryCtxRelease(int device) { return release_primary(device); }
Result cuDevicePrimaryCtxRelease_v2(int device) { return release_primary(device); }
Result cuDevicePrimaryCtxReset(int device) { return end_context(&contexts[device]); }
Result cuDevicePrimaryCtxReset_v2(int device) { return end_context(&contexts[device]); }
Result cuGreenCtxDestroy(void *) { return success; }
Result cuDeviceGetAttribute(int *value, int number, int) {
  const char *const given = std::getenv("FAKE_SM");
  const int sm = given ? std::atoi(given) : 90;
  *value = number == 75   ? sm / 10
           : number == 76 ? sm % 10
           : number == 97 ? most_shared
                          : 2; // multiprocessors
  return success;
}
Result cuDeviceGetCount(int *count) {
  *count = 2;
  return success;
}
Result cuDeviceGetName(char *name, int length, int device) {
  stay_if_stuck();
  const char *const given = std::getenv("FAKE_GPU");
  std::strncpy(name,
               device != 0 ? "Other GPU"
               : given     ? given
                           : "Fake GPU",
               static_cast<std::size_t>(length));
  return success;
}

Result cuModuleLoad(void **module, const char *path) {
  std::ifstream file(path);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  return load(module, text.c_str(), 1);
}
Result cuModuleLoadData(void **module, const void *image) { return load(module, image, 1); }
Result cuModuleLoadDataEx(void **module, const void *image, unsigned, int *, void **) {
  return load(module, image, 1);
}
Result cuLibraryLoadData(void **library, const void *image, int *, void **, unsigned, int *,
                         void **, unsigned) {
  return load(library, image, 2);
}
Result cuLinkAddData(void *, int, void *, std::size_t size, const char *, unsigned, int *,
                     void **) {
  note("link " + std::to_string(size));
  return success;
}
Result cuLinkAddData_v2(void *state, int, void *data, std::size_t size, const char *, unsigned,
                        int *, void **) {
  if (state > reinterpret_cast<void *>(16))
    *static_cast<std::string *>(state) += static_cast<const char *>(data);
  note("link " + std::to_string(size) + " " + static_cast<const char *>(data));
  return success;
}
Result cuModuleLoadFatBinary(void **module, const void *image) { return load(module, image, 1); }

// What compiles leaves the text as it is.
Result cuLinkCreate_v2(unsigned, int *, void **, void **state) {
  *state = new std::string;
  return success;
}
Result cuLinkComplete(void *state, void **image, std::size_t *bytes) {
  auto *const text = static_cast<std::string *>(state);
  *image = text->data();
  *bytes = text->size();
  return success;
}
Result cuModuleUnload(void *module) { return unload(module); }
Result cuLibraryUnload(void *library) { return unload(library); }
Result cuModuleGetFunction(void **function, void *module, const char *name) {
  return get_function(function, module, name);
}
Result cuModuleGetGlobal_v2(std::uint64_t *address, std::size_t *bytes, void *module,
                            const char *name) {
  return get_global(address, bytes, module, name);
}
Result cuLibraryGetKernel(void **kernel, void *library, const char *name) {
  return get_function(kernel, library, name);
}
Result cuLibraryGetGlobal(std::uint64_t *address, std::size_t *bytes, void *library,
                          const char *name) {
  return get_global(address, bytes, library, name);
}
Result cuFuncGetName(const char **name, void *handle) {
  Function *const function = function_of(handle);
  if (!function || function->kind != 1)
    return invalid_handle;
  *name = function->name.c_str();
  return success;
}
Result cuFuncGetModule(void **module, void *handle) {
  stay_if_stuck();
  Function *const function = function_of(handle);
  if (!function || function->kind != 1)
    return invalid_handle;
  *module = function->owner;
  return success;
}
Result cuFuncGetAttribute(int *value, int number, void *handle) {
  return attribute(value, number, function_of(handle));
}
Result cuFuncSetAttribute(void *handle, int number, int value) {
  return set_attribute(function_of(handle), number, value, 0);
}
Result cuKernelSetAttribute(int number, int value, void *handle, int device) {
  return set_attribute(function_of(handle), number, value, device);
}
// Both load code.
Result cuFuncLoad(void *handle) {
  load_slowly();
  static_cast<Function *>(handle)->loaded = true;
  return wait_for_running();
}
Result cuKernelGetFunction(void **function, void *handle) {
  *function = handle;
  return cuFuncLoad(handle);
}
Result cuGraphLaunch(void *, void *) { return success; }
Result cuKernelGetName(const char **name, void *handle) {
  Function *const function = function_of(handle);
  if (!function || function->kind != 2)
    return invalid_handle;
  *name = function->name.c_str();
  return success;
}
Result cuKernelGetLibrary(void **library, void *handle) {
  Function *const function = function_of(handle);
  if (!function || function->kind != 2)
    return invalid_handle;
  *library = function->owner;
  return success;
}
Result cuKernelGetAttribute(int *value, int number, void *handle, int device) {
  return attribute(value, number, function_of(handle), device);
}

Result cuMemAlloc_v2(std::uint64_t *memory, std::size_t bytes) {
  const std::lock_guard lock(mutex);
  if (std::getenv("FAKE_FULL") && allocations.size() >= 2)
    return 2;
  *memory = reinterpret_cast<std::uint64_t>(std::aligned_alloc(256, (bytes + 255) / 256 * 256));
  allocations[*memory] = bytes;
  return success;
}
Result cuMemFree_v2(std::uint64_t memory) {
  const std::lock_guard lock(mutex);
  allocations.erase(memory);
  std::free(reinterpret_cast<void *>(memory));
  return success;
}
Result cuMemGetAddressRange_v2(std::uint64_t *base, std::size_t *bytes, std::uint64_t address) {
  const std::lock_guard lock(mutex);
  auto found = allocations.upper_bound(address);
  if (found == allocations.begin() || address >= (--found)->first + found->second)
    return not_found;
  *base = found->first;
  *bytes = found->second;
  return success;
}
Result cuMemcpyDtoHAsync_v2(void *to, std::uint64_t from, std::size_t bytes, void *) {
  if (unsafe())
    return capture_unsafe;
  std::memcpy(to, reinterpret_cast<const void *>(from), bytes);
  return success;
}
Result cuMemcpyDtoDAsync_v2(std::uint64_t to, std::uint64_t from, std::size_t bytes, void *) {
  std::memcpy(reinterpret_cast<void *>(to), reinterpret_cast<const void *>(from), bytes);
  return success;
}

Result cuStreamCreate(void **stream, unsigned) {
  if (unsafe())
    return capture_unsafe;
  *stream = new Stream{false, current};
  return success;
}
Result cuStreamGetCtx(void *stream, void **context) {
  *context = static_cast<Stream *>(stream)->context;
  return success;
}
Result cuStreamGetCtx_ptsz(void *stream, void **context) { return cuStreamGetCtx(stream, context); }
Result cuStreamCreateWithPriority(void **stream, unsigned flags, int) {
  return cuStreamCreate(stream, flags);
}
Result cuStreamQuery(void *stream) {
  int captured = 0;
  if (capturing(stream, &captured) != success || captured) {
    note("UNSAFE");
    return capture_unsafe;
  }
  return (spinning && stream == spinning) || Clock::now() < busy_until ? not_ready : success;
}
Result cuStreamQuery_ptsz(void *stream) { return cuStreamQuery(stream); }
Result cuStreamDestroy_v2(void *stream) {
  delete static_cast<Stream *>(stream);
  return success;
}
Result cuStreamSynchronize(void *) {
  const std::lock_guard lock(mutex);
  for (Event &event : events)
    event.pending = false;
  return success;
}
Result cuStreamSynchronize_ptsz(void *stream) { return cuStreamSynchronize(stream); }
Result cuStreamIsCapturing(void *stream, int *status) { return capturing(stream, status); }
Result cuStreamIsCapturing_ptsz(void *stream, int *status) { return capturing(stream, status); }
Result cuThreadExchangeStreamCaptureMode(int *mode) {
  std::swap(*mode, capture_mode);
  return success;
}

Result cuEventCreate(void **event, unsigned) {
  if (unsafe())
    return capture_unsafe;
  const std::lock_guard lock(mutex);
  events.push_back({current});
  *event = &events.back();
  return success;
}
Result cuEventRecord(void *event, void *stream) { return record(event, stream); }
Result cuEventRecord_ptsz(void *event, void *stream) { return record(event, stream); }
Result cuEventQuery(void *event) {
  if (unsafe())
    return capture_unsafe;
  const Event &asked = *static_cast<Event *>(event);
  Context *context = nullptr;
  {
    const std::lock_guard lock(mutex);
    context = living(event).context;
    ++context->asked;
  }
  if (slowly != 0)
    ::usleep(static_cast<unsigned>(slowly) * 1000);
  const std::lock_guard lock(mutex);
  --context->asked;
  return asked.pending || (timed && asked.time > elapsed(true)) ? not_ready : success;
}
Result cuEventElapsedTime_v2(float *milliseconds, void *start, void *end) {
  const std::lock_guard lock(mutex);
  *milliseconds = static_cast<float>(living(end).time - living(start).time);
  return success;
}

Result cuLaunchKernel(void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
                      unsigned by, unsigned bz, unsigned shared, void *stream, void **parameters,
                      void **extra) {
  const unsigned grid[3] = {gx, gy, gz}, block[3] = {bx, by, bz};
  const Result result = launch("plain", function, grid, block, shared, stream, parameters, extra);
  if (auto *const happens = meanwhile.exchange(nullptr))
    happens();
  return result;
}
Result cuLaunchKernel_ptsz(void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
                           unsigned by, unsigned bz, unsigned shared, void *stream,
                           void **parameters, void **extra) {
  const unsigned grid[3] = {gx, gy, gz}, block[3] = {bx, by, bz};
  return launch("plain-ptsz", function, grid, block, shared, stream, parameters, extra);
}
Result cuLaunchKernelEx(const Config *config, void *function, void **parameters, void **extra) {
  return launch("ex", function, config->grid, config->block, config->shared, config->stream,
                parameters, extra);
}
Result cuLaunchKernelEx_ptsz(const Config *config, void *function, void **parameters,
                             void **extra) {
  return launch("ex-ptsz", function, config->grid, config->block, config->shared, config->stream,
                parameters, extra);
}
Result cuLaunchCooperativeKernel(void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
                                 unsigned by, unsigned bz, unsigned shared, void *stream,
                                 void **parameters) {
  const unsigned grid[3] = {gx, gy, gz}, block[3] = {bx, by, bz};
  return launch("cooperative", function, grid, block, shared, stream, parameters, nullptr);
}
#ifdef FAKE_NEWER
Result cuLaunchKernelEx_v2(void *function, void **parameters, const Config *config) {
  return launch("ex-2", function, config->grid, config->block, config->shared, config->stream,
                parameters, nullptr);
}
#endif

Result cuGraphKernelNodeGetParams(void *node, NodeParameters *parameters) {
  return node_parameters(node, parameters);
}
Result cuGraphKernelNodeGetParams_v2(void *node, NodeParameters *parameters) {
  struct Version2 : NodeParameters {
    void *kernel, *context;
  };
  auto *const result = static_cast<Version2 *>(parameters);
  result->kernel = result->context = nullptr;
  node_parameters(node, parameters);
  // For a library's kernel the driver returns the kernel.
  if (static_cast<Function *>(result->function)->kind == 2)
    result->kernel = std::exchange(result->function, nullptr);
  return success;
}
}
