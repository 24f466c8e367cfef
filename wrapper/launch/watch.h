#pragma once

// Kernels for which `ptxasw faster` is asked for versions, and the versions that came.

#include "wrapper/launch/kernels.h"
#include "wrapper/launch/measure.h"

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace ptxasw::wrapper::launch {

/// Launches that are worth asking for versions; the tuner tries nothing before.
inline constexpr std::uint64_t launched_often = 12;

/// A kernel that the program launches, as `ptxasw faster` knows it: by its image, its name and the
/// architecture.
struct Watched {
  std::string kernel;
  std::string id;                         ///< of the question; empty: there is none
  unsigned sm = 0;                        ///< for which architecture the question is
  std::atomic<std::uint64_t> launches{0}; ///< in all contexts and modules
  std::atomic<std::int64_t> next_look{0}; ///< microseconds
  std::atomic<std::uint32_t> pause{0};    ///< microseconds between two looks
  /// It is launched often. While there is no question, that goes for any kernel of the name.
  std::atomic<bool> wanted{false};
  TimeTaken taken; ///< by its launches while it awaits versions
  /// The launch from which on the next one is timed, and the one at which `ptxasw faster` is told
  /// again how much time it has taken.
  std::atomic<std::uint64_t> next_timed{launched_often}, next_told{0};
  bool remembered = false;           ///< an earlier run had versions of a kernel of this name
  bool early = false;                ///< they are being made before anybody asked
  std::atomic<bool> answered{false}; ///< versions are there, and not loaded yet
  // With the lock of the handles held:
  /// Why there are no versions; empty: not known yet, or there are. `words` without a reason: why
  /// all that there are is the kernel's own code.
  std::string reason, words;
  /// What its handles get while none has come, and where none will.
  std::unique_ptr<const Kernel> waiting, settled;
};

/// A program has loaded an image; `other_code`: with options by which the driver may have compiled
/// other code than it would have without. Nothing is kept unless `ptxasw faster` is there.
void remember_image(Handle owner, bool in_library, const void *image, bool other_code);
/// A program has loaded what is not seen: what was known of the handle was of something else.
void forget_unseen(const Handle *owner);
/// A module or library is about to end: what was loaded beside its kernels ends first.
void forget_images(Handle owner);
/// A context ends, and its modules with it; null: any may be the one. No library does.
void forget_context(Handle context);
/// The primary context of a device ends. What is of another context of that device is forgotten,
/// too.
void forget_device(int device);

/// With the lock of the handles held: what is known of a kernel without a table, of that module or
/// library. Null unless `ptxasw faster` is there.
const Kernel *watch(Handle function, const Home &home);

/// A launch of a kernel whose versions are not there yet: what is to be launched now. `function` is
/// that of the launch.
const Kernel *await_versions(Handle function, Handle stream, bool per_thread,
                             const Kernel &waiting);

/// Returns true if that launch is to be timed.
bool is_to_be_timed(Watched &watched);
/// Of a kernel that is launched more often than this, one launch in so many looks at the clock.
inline constexpr std::uint64_t launched_very_often = 1000;
inline constexpr unsigned between_looks_at_clock = 16;
/// The driver's launch of a kernel that awaits versions, by microseconds_now(). It stands for so
/// many launches.
void note_awaiting_launch(std::int64_t begin, std::int64_t end, unsigned stands_for);
/// The clock of these.
std::int64_t microseconds_now();

/// Returns true if the versions of a library's kernel may be launched in a context: the driver has
/// loaded their code there, so that no launch waits for what runs.
bool is_ready_in(const Kernel &kernel, Handle context);
/// Has that done, if nothing runs there now. `context`: the calling thread's.
bool make_ready_in(const Kernel &kernel, Handle context);

/// With the lock of the handles held: of a sibling that lies beside its kernel's module. False if
/// the function is none.
bool watched_origin(Handle function, Origin &origin);

/// All that are watched, as JSON: those without versions with the reason. Nothing if another thread
/// is in the middle of a change.
std::optional<std::string> watched_text();

} // namespace ptxasw::wrapper::launch
