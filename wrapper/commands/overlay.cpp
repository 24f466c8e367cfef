// An overlay is a directory that looks like the toolkit. nvcc takes its home from the path it is
// called by, without following links, and puts its own directory in front of PATH: with
// OVERLAY/bin/nvcc.toolkit a link, `ptxas` is OVERLAY/bin/ptxas, and that is us.
//
// OVERLAY/bin/nvcc is a script with bytes of its own that starts the link. A build cache takes it
// for another compiler than the toolkit's nvcc, so that neither gets objects of the other; and it
// says so when ptxasw has gone, where nvcc would find the next ptxas in PATH.
//
// What a cache cannot see (the environment, settings files, our own bytes, files that options of
// ptxas name) must reach its key all the same. A cache preprocesses first: the script adds a line
// with all of that to what `nvcc -E` gives. And it must not skip preprocessing: the line claims to
// come from a device, and ccache takes no device for an include file that it could look at instead
// ("Non-regular include file", and no direct mode). Where a version stands for the compiler, that
// also has the key.

#include "wrapper/commands/overlay.h"
#include "wrapper/commands/commands.h"
#include "wrapper/commands/words.h"
#include "wrapper/drop_in/find_real.h"
#include "wrapper/drop_in/marker.h"
#include "wrapper/os/files.h"
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fmt/core.h>
#include <set>

namespace ptxasw::wrapper {
namespace {

namespace fs = std::filesystem;

/// Lies in every overlay, so that we only ever change or remove what we made; holds the path of
/// the toolkit.
constexpr char marker[] = ".ptxasw-overlay";

/// What the marker says: the toolkit, and the link that led to it, if one was given.
struct Toolkit {
  fs::path path, link;
};

Toolkit toolkit_of(const fs::path &overlay) {
  const std::string text = read_regular_file(overlay / marker).value_or("");
  const std::size_t end = std::min(text.find('\n'), text.size());
  return {text.substr(0, end), text.substr(std::min(end + 1, text.size()))};
}

bool is_inside(const fs::path &path, const fs::path &directory) {
  const std::string relative = path.lexically_relative(directory).string();
  return !relative.empty() && !relative.starts_with("..");
}

/// Finds the toolkit: the given one, or the one of the real ptxas. `link` gets the path by which it
/// was found.
tl::expected<fs::path, std::string> find_toolkit(const std::string &given, fs::path &link) {
  fs::path root = given;
  if (given.empty()) {
    const auto real = find_real("", invoked_path());
    if (!real)
      return tl::unexpected(real.error());
    // By the way that is written down, if it is one: DIR/bin/ptxas.
    root = fs::path(real->path).parent_path().parent_path();
    if (std::error_code error; !fs::is_regular_file(root / "bin/nvcc", error))
      root = fs::canonical(real->path).parent_path().parent_path();
  }
  std::error_code error;
  link = fs::absolute(root).lexically_normal();
  if (!link.has_filename()) // a slash at the end
    link = link.parent_path();
  root = fs::canonical(root, error);
  if (error || !fs::is_regular_file(root / "bin/ptxas", error))
    return tl::unexpected(
        fmt::format("`{}` is no CUDA toolkit: it has no bin/ptxas", root.string()));
  if (fs::exists(root / marker)) // an overlay of an overlay is an overlay of the toolkit
    return toolkit_of(root).path;
  if (is_ptxasw(root / "bin/ptxas"))
    return tl::unexpected(fmt::format("`{}/bin/ptxas` is ptxasw itself", root.string()));
  return root;
}

/// The script that stands for nvcc; ccache and sccache identify a compiler by such bytes.
std::string nvcc_script(const fs::path &toolkit, const fs::path &program) {
  return fmt::format(R"sh(#!/bin/sh
# nvcc of {} with ptxasw {} as its ptxas ({}).
# Made by `ptxasw overlay`.
self=$0
case $self in */*) ;; *) self=./$self ;; esac
while [ -L "$self" ]; do
  link=$(readlink "$self")
  case $link in /*) self=$link ;; *) self=${{self%/*}}/$link ;; esac
done
here=${{self%/*}}
if [ ! -x "$here/ptxas" ]; then
  echo "ptxasw: error: the ptxasw of this overlay has gone: $here/ptxas leads to nothing" >&2
  exit 1
fi
# --link-helper: the launch helper becomes a part of what is linked, in front of cudart's dlsym; and
# the device linker leaves kernels alone that only the helper launches.
# --no-gpu: what is linked runs on the CPU, with our runtime in the place of cudart.
helper= no_gpu= cudart=static before=
for word; do
  shift
  case $before in -cudart | --cudart) cudart=$word ;; esac
  before=$word
  case $word in
  --link-helper) helper=1 ;;
  --no-gpu) no_gpu=1 ;;
  -cudart=* | --cudart=*) cudart=${{word#*=}}; set -- "$@" "$word" ;;
  *) set -- "$@" "$word" ;;
  esac
done
if [ "$no_gpu" ]; then
  program=$(readlink -f "$here/ptxas")
  for runtime in "${{program%/*}}/no-gpu" "${{program%/*}}/../libexec/ptxasw/no-gpu"; do
    [ ! -f "$runtime/libptxasw_cudart.a" ] || break
  done
  if [ ! -f "$runtime/libptxasw_cudart.a" ]; then
    echo "ptxasw: error: --no-gpu: no libptxasw_cudart.a beside $program" >&2
    exit 1
  fi
  # nvcc's own directories come behind those that it is given.
  set -- "$@" -L "$runtime"
  [ "$cudart" != shared ] || set -- "$@" -Xlinker -rpath -Xlinker "$runtime"
fi
if [ "$helper" ]; then
  program=$(readlink -f "$here/ptxas")
  for archive in "${{program%/*}}/libptxasw_launch.a" "${{program%/*}}/../libexec/ptxasw/libptxasw_launch.a"; do
    [ ! -f "$archive" ] || break
  done
  if [ ! -f "$archive" ]; then
    echo "ptxasw: error: --link-helper: no libptxasw_launch.a beside $program" >&2
    exit 1
  fi
  set -- "$@" -Xlinker --whole-archive -Xlinker "$archive" -Xlinker --no-whole-archive \
    -Xlinker --export-dynamic-symbol=dlsym -Xlinker --export-dynamic-symbol=dlopen \
    -Xlinker '--export-dynamic-symbol=cu[A-Z]*' -Xnvlink --ignore-host-info -ldl -lpthread
fi
what=compile output= before=
for word; do
  case $before in
  -o | --output-file) output=$word ;;
  esac
  case $before in
  -X* | --*-options | -o | --output-file | -I | --include-path | -isystem | --system-include | -D | \
    --define-macro | -U | --undefine-macro | -L | --library-path | -l | --library | -include | \
    --pre-include | -ccbin | --compiler-bindir | -x | -arch | --gpu-architecture | -gencode | \
    --generate-code | -code | --gpu-code | -odir | --output-directory | -MF | --dependency-output | \
    -MT | --dependency-target-name | -maxrregcount | --maxrregcount | -t | --threads)
    before= # the value of an option
    continue ;;
  esac
  case $word in
  *=*) before= ;; # its value is in it
  *) before=$word ;;
  esac
  case $word in
  --output-file=* | -o=*) output=${{word#*=}} ;;
  --dryrun | -dryrun) what=compile; break ;;
  -E | --preprocess) what=preprocess ;;
  -V | --version) what=version; break ;;
  esac
done
[ "$what" != compile ] || exec "$here/nvcc.toolkit" "$@"
# For a build cache: what decides about the code and is no option of nvcc.
key=$("$here/ptxas" --ptxasw-cache-key "$@") && [ "$key" ] || exit 1
"$here/nvcc.toolkit" "$@" || exit
if [ "$what" = version ]; then
  printf 'With %s as its ptxas\n' "$key"
elif [ "$output" ]; then
  printf '\n# 1 "/dev/zero"\n#pragma ptxasw %s\n' "$key" >> "$output"
else
  printf '\n# 1 "/dev/zero"\n#pragma ptxasw %s\n' "$key"
fi
)sh",
                     toolkit.string(), PTXASW_VERSION, program.string());
}

/// Makes `link` lead to `target`, in one step if it led elsewhere before: builds may be running.
void point(const fs::path &link, const fs::path &target) {
  std::error_code error;
  if (fs::is_symlink(link, error) && fs::read_symlink(link, error) == target)
    return;
  const fs::path temporary = link.string() + fmt::format(".{}.tmp", ::getpid());
  fs::create_symlink(target, temporary);
  fs::rename(temporary, link);
}

/// Links every entry of `from` into `to`, except those in `own`, and drops links that no longer
/// lead to anything in `from`.
void mirror(const fs::path &from, const fs::path &to, const std::set<std::string> &own) {
  fs::create_directory(to);
  for (const fs::directory_entry &entry : fs::directory_iterator(from))
    if (!own.contains(entry.path().filename()))
      point(to / entry.path().filename(), entry.path());
  std::set<fs::path> stale;
  for (const fs::directory_entry &entry : fs::directory_iterator(to))
    if (!own.contains(entry.path().filename()) && entry.is_symlink() &&
        !fs::exists(fs::symlink_status(from / entry.path().filename())))
      stale.insert(entry.path());
  for (const fs::path &path : stale)
    fs::remove(path);
}

/// Removes the links that we made and nothing else; directories only if nothing is left in them.
void remove_overlay(const fs::path &directory) {
  for (const fs::path &part : {directory / "bin", directory}) {
    std::set<fs::path> links;
    if (fs::is_directory(fs::symlink_status(part)))
      for (const fs::directory_entry &entry : fs::directory_iterator(part))
        if (entry.is_symlink())
          links.insert(entry.path());
    for (const fs::path &link : links)
      fs::remove(link);
    if (part != directory &&
        read_regular_file(part / "nvcc").value_or("").find("Made by `ptxasw overlay`") !=
            std::string::npos)
      fs::remove(part / "nvcc");
    if (part == directory)
      fs::remove(directory / marker);
    std::error_code not_empty;
    fs::remove(part, not_empty);
  }
}

tl::expected<void, std::string> make_overlay(const fs::path &directory, const fs::path &toolkit,
                                             const fs::path &link) {
  fs::create_directories(directory);
  if (auto written = write_file_atomically(
          directory / marker, toolkit.string() + (link == toolkit ? "" : "\n" + link.string()));
      !written)
    return written;
  mirror(toolkit, directory, {"bin", marker});
  mirror(toolkit / "bin", directory / "bin", {"nvcc", "nvcc.toolkit", "ptxas", "ptxas.real"});
  point(directory / "bin/ptxas.real", toolkit / "bin/ptxas");
  if (fs::exists(toolkit / "bin/nvcc")) {
    const fs::path script = directory / "bin/nvcc";
    if (fs::is_symlink(script)) // of an overlay that an older ptxasw made
      fs::remove(script);
    point(directory / "bin/nvcc.toolkit", toolkit / "bin/nvcc");
    if (read_regular_file(script) != nvcc_script(toolkit, own_path()))
      if (auto written = write_file_atomically(script, nvcc_script(toolkit, own_path())); !written)
        return written;
    fs::permissions(script, fs::perms(0755));
  }
  point(directory / "bin/ptxas", own_path());
  return {};
}

int overlay(const fs::path &directory, const std::string &cuda, bool remove) {
  const bool ours = fs::exists(directory / marker);
  if (fs::exists(directory) && !fs::is_directory(directory))
    return complain(fmt::format("`{}` is not a directory", directory.string()));
  if (!ours && fs::exists(directory) && (remove || !fs::is_empty(directory)))
    return complain(fmt::format("`{}` was not made by `ptxasw overlay`; it stays as it is",
                                directory.string()));
  if (remove) {
    if (ours)
      remove_overlay(directory);
    fmt::print("{} {}\n", ours ? "removed" : "there is no overlay at", directory.string());
    return 0;
  }
  fs::path link;
  const auto toolkit = find_toolkit(cuda, link);
  if (!toolkit)
    return complain(toolkit.error());
  if (is_inside(directory, *toolkit))
    return complain(fmt::format("`{}` lies in the toolkit itself", directory.string()));
  if (const auto made = make_overlay(directory, *toolkit, link); !made)
    return complain(made.error());
  if (link != *toolkit)
    fmt::print("{} leads to {} now; when it leads elsewhere, make the overlay again.\n",
               link.string(), toolkit->string());
  fmt::print("{} now stands for {}. Use {}/bin/nvcc, or CMake with "
             "-DCMAKE_CUDA_COMPILER={}/bin/nvcc.\n",
             directory.string(), toolkit->string(), directory.string(), directory.string());
  return 0;
}

} // namespace

std::string overlay_state(const std::string &directory) {
  const fs::path root = directory;
  std::error_code error;
  if (!fs::exists(root / marker, error))
    return "no overlay";
  const Toolkit origin = toolkit_of(root);
  if (!fs::exists(root / "bin/ptxas.real", error))
    return fmt::format("BROKEN, the toolkit {} has gone", origin.path.string());
  if (!fs::exists(root / "bin/ptxas", error))
    return fmt::format("BROKEN, its ptxasw has gone (it was {})",
                       fs::read_symlink(root / "bin/ptxas", error).string());
  if (!is_ptxasw(root / "bin/ptxas"))
    return "BROKEN, its ptxas is no ptxasw";
  if (fs::exists(origin.path / "bin/nvcc", error) &&
      (read_regular_file(root / "bin/nvcc") !=
           nvcc_script(origin.path, fs::read_symlink(root / "bin/ptxas", error)) ||
       !fs::exists(root / "bin/nvcc.toolkit", error)))
    return "OUTDATED, its nvcc is not what this ptxasw makes; make it again";
  if (!origin.link.empty() && fs::canonical(origin.link, error) != origin.path)
    return fmt::format("OUTDATED, {} leads to another toolkit than {} now; make it again",
                       origin.link.string(), origin.path.string());
  if (!fs::equivalent(root / "bin/ptxas", own_path(), error))
    return fmt::format("healthy, of another ptxasw ({})",
                       fs::canonical(root / "bin/ptxas", error).string());
  return "healthy";
}

namespace {

/// What `ptxasw overlay` was asked.
struct OverlayRequest {
  std::string directory;
  std::string cuda; ///< the toolkit; empty: the one that is found
  bool remove = false, status = false;
};

int run(const OverlayRequest &request, const Invocation &) {
  if (request.status) {
    const std::string state = overlay_state(request.directory);
    fmt::print("{}: {}\n", request.directory, state);
    return state.starts_with("healthy") ? 0 : 1;
  }
  try {
    return overlay(fs::weakly_canonical(fs::absolute(request.directory)), request.cuda,
                   request.remove);
  } catch (const fs::filesystem_error &error) {
    return complain(error.what());
  }
}

void declare(Words &words, OverlayRequest &request) {
  words.required("directory", request.directory, "where to make it");
  words.text("--cuda", request.cuda, "the toolkit to link to, instead of searching for it");
  words.flag("--remove", request.remove, "take the overlay away again");
  words.flag("--status", request.status, "only say if it is intact (exit code 1: no)");
  words.examples({"ptxasw overlay ~/cuda-ptxasw",
                  "~/cuda-ptxasw/bin/nvcc -arch=sm_90 -c heat.cu -Xptxas --ptxasw-lint"});
}

} // namespace

const Command overlay_command = {
    "overlay", "make a directory of links to the CUDA toolkit with ptxasw as its ptxas",
    bind<OverlayRequest, declare, run>};

} // namespace ptxasw::wrapper
