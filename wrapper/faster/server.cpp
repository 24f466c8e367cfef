// One process stands beside the program: it is the program's parent, so whatever the program starts
// is served, too, and the program gets no child and no thread that it did not start. Signals come
// in by a descriptor, files by a pipe; so a program that ends is not waited for longer than it
// takes.
//
// Versions are made in processes of their own, with the lowest priority, at most a minute of
// processor time each, and sessions of their own, so that a signal for the program does not end
// them. What is still being made when the program ends goes on, for the next run, unless nothing is
// remembered. The directory of this run may be gone by then, and another one in its place: so
// answers are written by its descriptor. Each such process has a parent that does nothing but wait
// for it and remove its files, however it ends.
//
// While the program has not launched anything often, versions of the kernels in its file are made
// (early.cpp), if it is known what its GPU is: from earlier runs, or from the helper once the
// program loads code. What is asked for goes before them, and they end with the program.
//
// Of what waits to be made, the versions of the kernel that has taken most time so far come first.
// That is known when a worker becomes free: the helper says how often a kernel has been launched
// and how long a launch takes. What it has not timed an earlier run may have, with another
// assembler or another image.
//
// A signal for the process group reaches the program by itself; one for this process alone is
// passed on. Which it was, a third process tells, the sentinel, which is of the group and keeps
// every signal pending: the kernel signals the youngest of a group first, so whatever this process
// got with its group the sentinel has got before. (A terminal that goes tells the leader of its
// session alone.) The sentinel also removes the directory of the
// run if this process is killed; the program ends with this process then.
//
// Where something is in the way of answering, no memory or no directory, nothing more is answered;
// the program runs on, and its end is waited for.

#include "wrapper/faster/server.h"

#include "wrapper/faster/early.h"
#include "wrapper/faster/make.h"
#include "wrapper/faster/store.h"
#include "wrapper/launch/whole_files.h"
#include "wrapper/os/files.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <deque>
#include <exception>
#include <fcntl.h>
#include <filesystem>
#include <fmt/core.h>
#include <functional>
#include <memory>
#include <optional>
#include <poll.h>
#include <set>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <tuple>
#include <unistd.h>
#include <utility>

namespace ptxasw::wrapper::faster {
namespace {

namespace fs = std::filesystem;

constexpr rlim_t seconds_for_one = 60;               ///< of a processor
constexpr unsigned seconds_for_rest = 120;           ///< for all that the program's end leaves
constexpr unsigned longest_in_all = 3600;            ///< seconds by the clock, of one that hangs
constexpr unsigned seconds_for_reading = 10;         ///< a program's file
constexpr rlim_t most_for_reading = rlim_t{8} << 30; ///< bytes, with those of the file
constexpr int somebody_else = 75, no_room = 74;
/// What ends a process that does not look at it, and is sent by people and programs.
constexpr int named_signals[] = {SIGHUP,  SIGINT,  SIGQUIT, SIGABRT, SIGUSR1, SIGUSR2,   SIGALRM,
                                 SIGTERM, SIGXCPU, SIGIO,   SIGPROF, SIGPWR,  SIGVTALRM, SIGSTKFLT};

/// What is passed on to the program: those, and all that have no name.
sigset_t passed_on() {
  sigset_t set;
  ::sigemptyset(&set);
  for (const int signal : named_signals)
    ::sigaddset(&set, signal);
  for (int signal = SIGRTMIN; signal <= SIGRTMAX; ++signal)
    ::sigaddset(&set, signal);
  return set;
}

/// Returns true for what a process sends, or a terminal. The rest comes of what this process does
/// itself: of a timer, say, that a profiler in front of both of us has set.
bool is_sent(const signalfd_siginfo &one) {
  const auto signal = static_cast<int>(one.ssi_signo);
  return one.ssi_code == SI_KERNEL
             ? signal == SIGHUP || signal == SIGINT || signal == SIGQUIT
             : one.ssi_code == SI_USER || one.ssi_code == SI_QUEUE || one.ssi_code == SI_TKILL;
}

/// A question on its way.
struct Job {
  Question question;
  std::string key;
  bool wanted = false;                      ///< its kernel is launched often
  bool answered = false;                    ///< or nothing will come
  bool waits = false;                       ///< for another process, which makes the same
  bool runs = false;                        ///< a worker makes it
  std::optional<double> remembered_us = {}; ///< what a launch took in earlier runs; 0: not known
};

/// A directory that goes when it is no longer needed.
struct Workplace {
  std::string path;
  Workplace() {
    std::error_code error;
    std::string text = (fs::temp_directory_path(error) / "ptxasw-make-XXXXXX").string();
    if (!error && ::mkdtemp(text.data()))
      path = text;
  }
  ~Workplace() {
    if (!path.empty())
      remove_directory(path);
  }
  Workplace(const Workplace &) = delete;
  Workplace &operator=(const Workplace &) = delete;
};

/// The descriptor that a child keeps, behind the standard ones.
constexpr int kept_descriptor = 3;

/// This process, a child, has none of our descriptors but one, as `kept_descriptor`.
void keep_only(int descriptor) {
  const int null = ::open("/dev/null", O_RDWR);
  for (const int standard : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    ::dup2(null, standard);
  if (descriptor != kept_descriptor)
    ::dup3(descriptor, kept_descriptor, O_CLOEXEC);
  ::syscall(SYS_close_range, unsigned{kept_descriptor} + 1, ~0u, 0u);
}

/// This process, a child, ends when its parent does.
void end_with(pid_t parent) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent)
    ::_exit(127);
}

/// This process, a child, is in nobody's way.
void step_back(int directory) {
  keep_only(directory);
  ::setsid();
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  ::setpriority(PRIO_PROCESS, 0, 19);
  const rlimit dump{0, 0};
  ::setrlimit(RLIMIT_CORE, &dump);
}

/// What a maker's process is for: its exit code, from a directory for files of its own.
using Work = std::function<int(const std::string &)>;

/// Does the work in a child of this process, and removes its files. It ends as the child does.
[[noreturn]] void supervise(int directory, const Work &work) noexcept {
  step_back(directory);
  ::signal(SIGTERM, SIG_IGN); // which ends the child, and then this process
  int status = 0;
  bool started = false;
  try {
    const Workplace workplace;
    const pid_t self = ::getpid(), child = workplace.path.empty() ? -1 : ::fork();
    if (child == 0) {
      int code = no_room;
      ::signal(SIGTERM, SIG_DFL);
      end_with(self);
      const rlimit processor{seconds_for_one, seconds_for_one + 1};
      ::setrlimit(RLIMIT_CPU, &processor);
      ::alarm(longest_in_all);
      try {
        code = work(workplace.path);
      } catch (...) { // for want of memory, say
      }
      ::_exit(code);
    }
    while (child > 0 && ::waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    started = child > 0;
  } catch (...) {
  }
  if (started && WIFSIGNALED(status)) {
    ::signal(WTERMSIG(status), SIG_DFL);
    ::kill(::getpid(), WTERMSIG(status));
  }
  ::_exit(started && WIFEXITED(status) ? WEXITSTATUS(status) : no_room);
}

/// Makes an answer and keeps it; the exit code of the process. It is for the run whose directory
/// `kept_descriptor` is.
int make_one(const Job &job, const std::string &image, const Assembler &assembler,
             const std::string &workplace) {
  Store store;
  if (store.take(job.key) == Store::Right::theirs)
    return somebody_else;
  std::optional<launch::Answer> answer = store.find(job.key); // made meanwhile
  if (!answer) {
    answer = make_answer(job.question, image, assembler, workplace);
    // An assembler may fail for want of room or memory, which is another time's matter.
    if (answer->reason != not_assembled)
      store.keep(job.key, *answer);
  }
  store.give_back();
  return replace_file_at(kept_descriptor, job.question.id + ".answer", encode(*answer)) ? 0
                                                                                        : no_room;
}

/// The process that has every signal of the group pending, and removes a directory if this process
/// is killed.
class Sentinel {
public:
  Sentinel() = default;
  explicit Sentinel(const std::string &directory) {
    std::array<int, 2> pipe = {-1, -1};
    if (::pipe2(pipe.data(), O_CLOEXEC) != 0)
      return;
    process_ = ::fork();
    if (process_ == 0)
      stand(pipe[0], directory);
    ::close(pipe[0]);
    alive_ = pipe[1];
  }

  void end() const {
    if (process_ > 0) {
      ::kill(process_, SIGKILL);
      ::waitpid(process_, nullptr, 0);
    }
    if (alive_ >= 0)
      ::close(alive_);
  }

  /// The signals that it got, a bit each, from the lowest for signal 1.
  std::uint64_t got() const {
    const auto status =
        process_ > 0 ? read_regular_file(fmt::format("/proc/{}/status", process_)) : std::nullopt;
    const std::size_t at = status ? status->find("\nShdPnd:\t") : std::string::npos;
    return at == std::string::npos ? 0 : std::strtoull(status->c_str() + at + 9, nullptr, 16);
  }

  /// A child of this process has ended: false if it is another one.
  bool has_ended(pid_t child) {
    const bool itself = child == process_;
    process_ = itself ? -1 : process_;
    return itself;
  }

private:
  /// What it does: waits until nobody can write to the pipe any more.
  [[noreturn]] static void stand(int end_of_pipe, const std::string &directory) noexcept {
    sigset_t all;
    ::sigfillset(&all);
    ::sigprocmask(SIG_SETMASK, &all, nullptr);
    keep_only(end_of_pipe);
    char nothing = 0;
    (void)!::read(kept_descriptor, &nothing, 1);
    remove_directory(directory);
    ::_exit(0);
  }

  pid_t process_ = -1;
  int alive_ = -1; ///< a pipe's end that nobody else has: it closes when this process ends
};

/// Signals for this process, which come in by a descriptor: those for it alone are for the program,
/// which gets by itself what its group gets.
class Signals {
public:
  /// The directory is for the sentinel.
  explicit Signals(const std::string &directory) : directory_(directory) {
    sigset_t set = passed_on();
    ::sigaddset(&set, SIGCHLD);
    ::sigprocmask(SIG_BLOCK, &set, &before_);
    // Whoever ignores its children is not told how they end.
    struct sigaction usual {};
    usual.sa_handler = SIG_DFL;
    ::sigaction(SIGCHLD, &usual, &children_before_);
    descriptor_ = ::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    sentinel_ = Sentinel(directory_);
  }

  int descriptor() const { return descriptor_; }
  bool has_ended(pid_t child) { return sentinel_.has_ended(child); }

  /// Takes what has come, and passes it on.
  void take(pid_t program) {
    sigset_t pending, children;
    ::sigemptyset(&children);
    ::sigaddset(&children, SIGCHLD);
    const timespec now{};
    while (::sigtimedwait(&children, nullptr, &now) > 0) {
    }
    const sigset_t ours = passed_on();
    bool any = false;
    if (descriptor_ >= 0 && ::sigpending(&pending) == 0)
      for (int signal = 1; signal <= SIGRTMAX; ++signal)
        any = any || (::sigismember(&pending, signal) == 1 && ::sigismember(&ours, signal) == 1);
    if (!any)
      return;
    // The next sentinel is there before anything is read; so what comes now is pending in it.
    const Sentinel sentinel = std::exchange(sentinel_, Sentinel(directory_));
    std::vector<signalfd_siginfo> all;
    for (signalfd_siginfo one{}; ::read(descriptor_, &one, sizeof one) == sizeof one;)
      all.push_back(one);
    const bool in_group = ::getpgid(program) == ::getpgrp();
    const std::uint64_t of_group = in_group ? sentinel.got() : 0;
    sentinel.end();
    for (const signalfd_siginfo &one : all)
      if (one.ssi_signo != SIGCHLD && is_sent(one) && !(of_group >> (one.ssi_signo - 1) & 1))
        ::kill(program, static_cast<int>(one.ssi_signo));
  }

  /// As they were before; for the program, too.
  void restore() const {
    ::sigaction(SIGCHLD, &children_before_, nullptr);
    ::sigprocmask(SIG_SETMASK, &before_, nullptr);
  }

  void end() const {
    sentinel_.end();
    if (descriptor_ >= 0)
      ::close(descriptor_);
    restore();
  }

private:
  const std::string &directory_;
  sigset_t before_{};
  struct sigaction children_before_ {};
  int descriptor_ = -1;
  Sentinel sentinel_;
};

/// Reads the files of programs for what they may ask later, each once, one at a time, in a process
/// of its own.
class EarlyReader {
public:
  void add(const std::string &program, unsigned sm) { programs_.insert_or_assign(program, sm); }

  /// Begins with the next one, unless one is being read. What is found goes to the directory.
  void start(int directory, const Store &store) {
    while (process_ <= 0 && !programs_.empty()) {
      const auto [program, sm] = *programs_.begin();
      programs_.erase(programs_.begin());
      struct stat found {};
      if (::stat(program.c_str(), &found) != 0 ||
          !read_
               .emplace(found.st_dev, found.st_ino, found.st_mtim.tv_sec, found.st_mtim.tv_nsec, sm)
               .second)
        continue;
      const std::string remembered = store.remembered();
      process_ = ::fork();
      if (process_ == 0)
        read(directory, program, sm, remembered);
    }
  }

  /// The names of the questions that were found since the last time; none while one is being read,
  /// as that file is written then.
  std::vector<std::string> asked(const std::string &directory) {
    std::vector<std::string> found;
    if (process_ > 0)
      return found;
    std::string text = read_regular_file(directory + "/" + early_file).value_or("");
    for (text.erase(0, std::min(text.size(), seen_)); !text.empty();) {
      const std::size_t end = text.find('\n');
      found.push_back(text.substr(0, text.find(' ')));
      const std::size_t size = end == std::string::npos ? text.size() : end + 1;
      seen_ += size;
      text.erase(0, size);
    }
    return found;
  }

  bool has_ended(pid_t child) {
    const bool itself = child == process_;
    process_ = itself ? -1 : process_;
    return itself;
  }

  /// Nothing is read any more.
  void kill() const {
    if (process_ > 0)
      ::kill(process_, SIGKILL);
  }
  void wait() const {
    if (process_ > 0)
      ::waitpid(process_, nullptr, 0);
  }

private:
  /// What the process does.
  [[noreturn]] static void read(int directory, const std::string &program, unsigned sm,
                                const std::string &remembered) noexcept {
    step_back(directory);
    const rlimit processor{seconds_for_reading, seconds_for_reading + 1};
    ::setrlimit(RLIMIT_CPU, &processor);
    const rlimit memory{most_for_reading, most_for_reading};
    ::setrlimit(RLIMIT_AS, &memory);
    ::alarm(seconds_for_reading);
    try {
      ask_early(program, sm, remembered, kept_descriptor);
    } catch (...) { // for want of memory, say
    }
    ::_exit(0);
  }

  std::map<std::string, unsigned> programs_; ///< files to be read, and for which GPU
  std::set<std::tuple<dev_t, ino_t, time_t, long, unsigned>> read_;
  std::size_t seen_ = 0; ///< bytes of the early_file
  pid_t process_ = -1;
};

/// Serves a program from its start to its end.
class Run {
public:
  Run(const ServerPlan &plan, std::multimap<std::string, std::string> &keys)
      : plan_(plan), keys_(keys), signals_(plan.directory) {}

  Served serve() {
    directory_ = ::open(plan_.directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    if (::mkfifoat(directory_, launch::bell_file, 0600) == 0)
      bell_ = ::openat(directory_, launch::bell_file, O_RDWR | O_NONBLOCK | O_CLOEXEC | O_NOFOLLOW);
    Served served;
    (void)replace_file_at(directory_, "remembered", store_.remembered());
    compiled_ = store_.compiled();
    (void)replace_file_at(directory_, "compiled", compiled_);
    program_ = start(served);
    if (program_ > 0) {
      try {
        answer(served);
      } catch (const std::exception &) { // for want of memory, say
        only_wait(served);
      }
    }
    served.remembered = store_.usable();
    for (const int descriptor : {bell_, directory_})
      if (descriptor >= 0)
        ::close(descriptor);
    signals_.end();
    return served;
  }

private:
  /// Answers until the program ends.
  void answer(Served &served) {
    assembler_ = find_assembler();
    if (const unsigned sm = store_.gpu(); sm != 0 && makes_early())
      early_reader_.add(fmt::format("/proc/{}/exe", program_), sm);
    early_reader_.start(directory_, store_);
    while (program_ > 0)
      step(served);
    served.unfinished = leave();
  }

  /// Nothing is answered any more.
  void only_wait(Served &served) {
    early_reader_.kill();
    for (const auto &[worker, id] : workers_)
      end_worker(worker);
    workers_.clear();
    while (program_ > 0)
      try {
        pollfd event = {signals_.descriptor(), POLLIN, 0};
        ::poll(&event, 1, event.fd < 0 ? 10 : -1);
        signals_.take(program_);
        take_children(served);
      } catch (const std::exception &) { // the next iteration does it
      }
  }

  /// Starts the program; -1, and why, if there is none.
  pid_t start(Served &served) {
    std::array<int, 2> pipe = {-1, -1};
    if (::pipe2(pipe.data(), O_CLOEXEC) != 0) {
      served.no_process = errno;
      return -1;
    }
    std::vector<char *> argv;
    for (const std::string &word : plan_.command)
      argv.push_back(const_cast<char *>(word.c_str()));
    argv.push_back(nullptr);
    const pid_t self = ::getpid(), child = ::fork();
    if (child == 0) {
      end_with(self);
      for (const auto &[name, value] : plan_.environment)
        ::setenv(name.c_str(), value.c_str(), 1);
      signals_.restore();
      ::execvp(argv[0], argv.data());
      const int why = errno;
      (void)!::write(pipe[1], &why, sizeof why);
      ::_exit(127);
    }
    served.no_process = child < 0 ? errno : 0;
    ::close(pipe[1]);
    int error = 0;
    const bool failed = child > 0 && ::read(pipe[0], &error, sizeof error) == sizeof error;
    ::close(pipe[0]);
    if (!failed)
      return child;
    served.not_started = error;
    ::waitpid(child, nullptr, 0);
    return -1;
  }

  /// Waits for anything to happen, and does what it asks for.
  void step(Served &served) {
    pollfd events[] = {{signals_.descriptor(), POLLIN, 0}, {bell_, POLLIN, 0}};
    const bool waits = std::any_of(jobs_.begin(), jobs_.end(),
                                   [](const auto &entry) { return entry.second.waits; });
    // A worker that is to make room may not have heard it.
    const int pause = bell_ < 0 || events[0].fd < 0 ? 10 : waits || !queue_.empty() ? 50 : -1;
    ::poll(events, 2, pause);
    signals_.take(program_);
    std::array<char, 4096> ignored;
    while (bell_ >= 0 && ::read(bell_, ignored.data(), ignored.size()) > 0) {
    }
    take_children(served); // first: what a reader that has ended wrote is seen then
    look_around();
    take_early();
    retry();
    start_workers();
  }

  void take_children(Served &served) {
    int status = 0;
    for (pid_t ended; (ended = ::waitpid(-1, &status, WNOHANG)) > 0;)
      if (ended == program_) {
        served.status = status;
        program_ = -1;
      } else if (signals_.has_ended(ended) || early_reader_.has_ended(ended)) {
        continue;
      } else if (const auto worker = workers_.find(ended); worker != workers_.end()) {
        finish(jobs_.at(worker->second), status);
        workers_.erase(worker);
      }
  }

  /// A worker has ended.
  void finish(Job &job, int status) {
    job.runs = false;
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM) { // it made room
      (job.wanted ? queue_ : early_).push_back(job.question.id);
      return;
    }
    if (WIFEXITED(status) && WEXITSTATUS(status) == somebody_else) {
      job.waits = true;
      return;
    }
    job.answered = true;
    if (status == 0) {
      note_answer(job);
      return;
    }
    // What it did to itself it would do again; what somebody else did to it is no reason.
    if (WIFSIGNALED(status) && (WTERMSIG(status) == SIGXCPU || WTERMSIG(status) == SIGSEGV)) {
      launch::Answer answer;
      const bool late = WTERMSIG(status) == SIGXCPU;
      answer.reason = late ? "limit" : "failure";
      answer.words = late ? "making versions takes too long" : "making versions failed";
      store_.keep(job.key, answer);
      reply(job, answer);
    }
  }

  /// Under which key results belong to what a worker has answered; false: it has not.
  bool note_answer(const Job &job) {
    const auto bytes = read_regular_file(path(job.question.id, "answer"));
    if (!bytes)
      return false;
    if (const auto answer = launch::decode_answer(*bytes))
      keys_.emplace(answer->table.hash, job.key);
    return true;
  }

  std::string path(const std::string &name, const char *kind) const {
    return plan_.directory + "/" + name + "." + kind;
  }

  void reply(Job &job, const launch::Answer &answer) {
    job.answered = true;
    if (answer.reason.empty())
      keys_.emplace(answer.table.hash, job.key);
    (void)replace_file_at(directory_, job.question.id + ".answer", encode(answer));
  }

  /// New questions, and kernels that turned out to be launched often.
  void look_around() {
    std::error_code error;
    std::vector<std::string> often;
    for (fs::directory_iterator one(plan_.directory, error), end; !error && one != end;
         one.increment(error)) {
      const std::string kind = one->path().extension(), id = one->path().stem();
      if (kind == ".question" && asked_.insert(id).second)
        take_question(id);
      if (kind == launch::often_suffix)
        often.push_back(id); // its question may come later in this order
      if (kind == launch::compiled_suffix)
        take_compiled(id);
      if (kind == launch::program_suffix)
        take_program(id);
    }
    for (const std::string &id : often) {
      const auto job = jobs_.find(id);
      if (job != jobs_.end() && !job->second.answered && !std::exchange(job->second.wanted, true) &&
          !job->second.runs && !job->second.waits)
        queue_.push_back(id);
    }
  }

  /// The helper says which GPU a program has, and which file the program is.
  void take_program(const std::string &name) {
    const std::string file = path(name, launch::program_suffix + 1);
    const auto text = read_own_file(file);
    ::unlink(file.c_str());
    const std::size_t end = text ? text->find('\n') : std::string::npos;
    const unsigned sm = text ? static_cast<unsigned>(std::strtoul(text->c_str(), nullptr, 10)) : 0;
    if (end == std::string::npos || sm == 0 || sm > 999)
      return;
    store_.set_gpu(sm);
    if (makes_early())
      early_reader_.add(text->substr(end + 1), sm);
  }

  /// Where the driver assembles, that takes the GPU; so nothing is made of which nobody has asked.
  bool makes_early() const { return !assembler_.ptxas.empty(); }

  /// What has been asked early since the last look: of the program that began last first.
  void take_early() {
    constexpr std::size_t most = 128;
    std::vector<std::string> found = early_reader_.asked(plan_.directory);
    std::erase_if(found, [&](const std::string &id) {
      const auto job = jobs_.find(id);
      return job == jobs_.end() || job->second.answered || job->second.wanted;
    });
    early_.insert(early_.begin(), found.begin(), found.end());
    if (early_.size() > most)
      early_.resize(most);
  }

  /// What NVRTC compiled is kept, and known to what the program starts from now on.
  void take_compiled(const std::string &name) {
    const std::string file = path(name, launch::compiled_suffix + 1);
    const bool kept = store_.keep_compiled(name, read_own_file(file).value_or(""));
    ::unlink(file.c_str());
    makes_room_ = makes_room_ || kept;
    if (!kept || compiled_.find("\n" + name + "\n") != std::string::npos)
      return;
    compiled_ += name + "\n";
    (void)replace_file_at(directory_, "compiled", compiled_);
  }

  void take_question(const std::string &id) {
    auto question = parse_question(read_regular_file(path(id, "question")).value_or(""), id);
    if (!question)
      return;
    Job job{std::move(*question), "", false, false, false};
    job.key = key_of(job.question, assembler_);
    if (const auto known = store_.find(job.key))
      reply(job, *known);
    jobs_.emplace(id, std::move(job));
  }

  /// What another process was making.
  void retry() {
    for (auto &[id, job] : jobs_) {
      if (!job.waits)
        continue;
      if (const auto known = store_.find(job.key)) {
        job.waits = false;
        reply(job, *known);
      } else if (store_.take(job.key) != Store::Right::theirs) {
        store_.give_back();
        job.waits = false;
        (job.wanted ? queue_ : early_).push_back(id);
      }
    }
  }

  void start_workers() {
    if (program_ > 0)
      early_reader_.start(directory_, store_);
    const long processors = ::sysconf(_SC_NPROCESSORS_ONLN);
    const auto most = static_cast<std::size_t>(std::clamp(processors - 1, 1L, 2L));
    while (workers_.size() < most &&
           (start_worker(queue_) || (program_ > 0 && start_worker(early_)))) {
    }
    if (!queue_.empty())
      end_early(1);
  }

  /// What a kernel has taken so far, microseconds, about. Of one that was not launched often, what
  /// a launch took in earlier runs.
  double taken_by(Job &job) {
    constexpr double not_timed = 10; // a launch of which nothing is known
    const auto text = read_regular_file(path(job.question.id, launch::often_suffix + 1));
    const launch::HowOften often = text ? launch::parse_often(*text) : launch::HowOften{};
    if (often.each_us == 0 && !job.remembered_us)
      job.remembered_us = store_.remembered_us(remembered_name(job.question));
    const double each = often.each_us > 0 ? often.each_us : job.remembered_us.value_or(0);
    return text ? static_cast<double>(often.launches) * (each > 0 ? each : not_timed) : each;
  }

  /// Orders a queue so that what has taken most time comes first; what has taken as long stays as
  /// it is.
  void order(std::deque<std::string> &queue) {
    std::map<std::string, double> taken;
    for (const std::string &id : queue)
      if (!taken.contains(id))
        taken[id] = taken_by(jobs_.at(id));
    std::stable_sort(queue.begin(), queue.end(), [&](const std::string &a, const std::string &b) {
      return taken.at(a) > taken.at(b);
    });
  }

  /// Starts the dearest of a queue that is still to be made. False: there is none.
  bool start_worker(std::deque<std::string> &queue) {
    std::erase_if(queue, [&](const std::string &one) {
      const Job &job = jobs_.at(one);
      return job.answered || job.runs || job.waits;
    });
    if (queue.empty())
      return false;
    order(queue);
    const std::string id = queue.front();
    queue.pop_front();
    Job &job = jobs_.at(id);
    const auto image = read_regular_file(path(job.question.image, "image"));
    if (!image) {
      job.answered = true;
      return true;
    }
    const pid_t worker = ::fork();
    if (worker == 0)
      supervise(directory_, [&](const std::string &workplace) {
        return make_one(job, *image, assembler_, workplace);
      });
    job.runs = worker > 0;
    job.answered = worker < 0;
    if (worker > 0)
      workers_[worker] = id;
    return true;
  }

  /// Ends workers: so many, or as many as there are, of what nobody has asked for.
  void end_early(std::size_t most) {
    for (const auto &[worker, id] : workers_)
      if (most > 0 && !jobs_.at(id).wanted) {
        --most;
        end_worker(worker);
      }
  }

  static void end_worker(pid_t worker) {
    if (::kill(-worker, SIGTERM) != 0)
      ::kill(worker, SIGTERM); // it leads no group yet
  }

  /// The program has ended. Returns how many answers will come too late for it.
  std::size_t leave() {
    early_reader_.kill();
    early_reader_.wait();
    look_around(); // for what came after the last look
    // A worker has answered before it ends, and the program may have ended meanwhile.
    for (auto &[id, job] : jobs_)
      job.answered = job.answered || note_answer(job);
    if (makes_room_)
      store_.make_room();
    if (!store_.usable()) {
      for (const auto &[worker, id] : workers_)
        end_worker(worker);
      return 0;
    }
    end_early(workers_.size());
    const auto unfinished = static_cast<std::size_t>(
        std::count_if(workers_.begin(), workers_.end(), [&](const auto &entry) {
          const Job &job = jobs_.at(entry.second);
          return job.wanted && !job.answered;
        }));
    std::vector<std::pair<const Job *, std::string>> rest;
    std::set<std::string> seen;
    order(queue_);
    for (const std::string &id : queue_)
      if (!jobs_.at(id).answered && !jobs_.at(id).runs && seen.insert(id).second)
        if (auto image = read_regular_file(path(jobs_.at(id).question.image, "image")))
          rest.emplace_back(&jobs_.at(id), std::move(*image));
    if (!rest.empty() && ::fork() == 0)
      supervise(directory_, [&](const std::string &workplace) {
        ::alarm(seconds_for_rest);
        for (const auto &[job, image] : rest)
          make_one(*job, image, assembler_, workplace);
        return 0;
      });
    return unfinished + rest.size();
  }

  const ServerPlan &plan_;
  std::multimap<std::string, std::string> &keys_;
  Store store_;
  Assembler assembler_;
  EarlyReader early_reader_;
  std::string compiled_;    ///< the text of the file `compiled`
  bool makes_room_ = false; ///< machine code was remembered
  int bell_ = -1;
  int directory_ = -1; ///< of this run
  pid_t program_ = -1;
  std::map<std::string, Job> jobs_;
  std::set<std::string> asked_;
  std::deque<std::string> queue_, early_; ///< what is asked for, and what may be
  std::map<pid_t, std::string> workers_;
  Signals signals_; ///< before the program: whatever happens to it or us, the sentinel is there
};

} // namespace

Served Server::run() { return Run(plan_, keys_).serve(); }

tl::expected<void, std::string> Server::remember(const launch::Profile &profile) {
  Store store;
  std::map<std::string, launch::Profile> by_key;
  for (const launch::ProfileEntry &entry : profile.entries) {
    const auto [first, last] = keys_.equal_range(entry.hash);
    for (auto one = first; one != last; ++one)
      by_key[one->second].entries.push_back(entry);
  }
  if (!store.usable())
    return store.usable();
  std::size_t written = 0;
  for (const auto &[key, entries] : by_key)
    written += store.merge(key, entries);
  if (written < by_key.size())
    return tl::unexpected(fmt::format("cannot write to {}", store.directory()));
  return {};
}

} // namespace ptxasw::wrapper::faster
