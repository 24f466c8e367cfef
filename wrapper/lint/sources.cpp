// Which files may be read is decided by their names without links: a link to a file elsewhere is a
// file elsewhere.

#include "wrapper/lint/sources.h"

#include "wrapper/os/files.h"

#include <algorithm>
#include <filesystem>

namespace ptxasw::wrapper {
namespace {

namespace fs = std::filesystem;

/// Of languages that compile to PTX.
constexpr std::string_view source_endings[] = {
    ".cu",  ".cuh", ".c",   ".cc",  ".cpp", ".cxx", ".h", ".hh",  ".hpp", ".hxx", ".inl", ".inc",
    ".ipp", ".tpp", ".cuf", ".f90", ".F90", ".f",   ".F", ".f95", ".jl",  ".py",  ".rs",  ".ptx"};

constexpr std::uintmax_t largest_source = 16 << 20; // bytes

bool looks_like_a_source(const fs::path &path) {
  const std::string ending = path.extension().string();
  return std::find(std::begin(source_endings), std::end(source_endings), ending) !=
         std::end(source_endings);
}

} // namespace

Sources::Sources(const std::vector<std::string> &roots) {
  add_folder_of("./");
  for (const std::string &root : roots)
    add_folder_of(root + "/");
}

void Sources::add_folder_of(const std::string &ptx) {
  if (ptx.empty() || ptx == "-")
    return;
  std::error_code error;
  const fs::path folder = fs::path(ptx).parent_path();
  std::string root = fs::canonical(folder.empty() ? "." : folder, error).string();
  if (error)
    return;
  if (!root.ends_with('/'))
    root += '/';
  if (std::find(roots_.begin(), roots_.end(), root) == roots_.end()) {
    roots_.push_back(std::move(root));
    std::erase_if(files_, [](const auto &entry) { return !entry.second; });
  }
}

// The canonical name of a file that may be read. A relative name may be meant from any of the
// roots.
std::optional<std::string> Sources::allowed(const std::string &file) const {
  std::vector<fs::path> candidates;
  if (fs::path(file).is_absolute())
    candidates.emplace_back(file);
  else
    for (const std::string &root : roots_)
      candidates.push_back(root / fs::path(file));
  for (const fs::path &candidate : candidates) {
    std::error_code error;
    const fs::path path = fs::canonical(candidate, error);
    if (error || !looks_like_a_source(path) || !fs::is_regular_file(path, error) ||
        fs::file_size(path, error) > largest_source)
      continue;
    if (std::any_of(roots_.begin(), roots_.end(),
                    [&](const std::string &root) { return path.string().starts_with(root); }))
      return path.string();
  }
  return std::nullopt;
}

const std::vector<std::string> *Sources::lines(const std::string &file) {
  auto [found, is_new] = files_.try_emplace(file);
  if (is_new)
    if (const auto path = allowed(file))
      if (const auto text = read_regular_file(*path); text && text->find('\0') == std::string::npos)
        found->second = cut_lines(*text);
  return found->second ? &*found->second : nullptr;
}

std::string Sources::line(const Place &place) {
  const auto *all = lines(place.file);
  return all && place.line >= 1 && place.line <= all->size() ? (*all)[place.line - 1]
                                                             : std::string();
}

std::vector<std::string> cut_lines(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    if (line.ends_with('\r'))
      line.remove_suffix(1);
    lines.emplace_back(line);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

std::string shown_path(const std::string &path) {
  std::error_code error;
  std::string here = fs::current_path(error).string();
  if (error || here == "/")
    return path;
  here += '/';
  return path.starts_with(here) ? path.substr(here.size()) : path;
}

} // namespace ptxasw::wrapper
