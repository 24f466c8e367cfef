// A program needs a while before its first launch: the driver starts, data is read and copied. The
// versions of a kernel take less than that; so they are made in this time, and a program that has
// put all its launches into a queue before an answer could come gains in its first run, too.
//
// What is asked must be what the helper will ask: the same bytes are kept of a fat binary of the
// file as of the same in memory, and named by the same hash. What it would refuse is not asked.

#include "wrapper/faster/early.h"

#include "grammar/fat_binary.h"
#include "wrapper/faster/make.h"
#include "wrapper/launch/answer.h"
#include "wrapper/launch/kept_image.h"
#include "wrapper/os/files.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <set>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

namespace ptxasw::wrapper::faster {
namespace {

/// Of a program with more kernels most are not launched often.
constexpr std::size_t most_unknown = 16, most_in_all = 64;
constexpr std::size_t most_kept = std::size_t{64} << 20; ///< bytes of all images, as of the helper

/// The bytes of a file, of which only what is looked at is read.
class MappedFile {
public:
  explicit MappedFile(const std::string &path) {
    const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    struct stat found {};
    if (file < 0)
      return;
    if (::fstat(file, &found) == 0 && S_ISREG(found.st_mode) && found.st_size > 0) {
      const auto size = static_cast<std::size_t>(found.st_size);
      void *const at = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file, 0);
      if (at != MAP_FAILED)
        bytes_ = {static_cast<const char *>(at), size};
    }
    ::close(file);
  }
  ~MappedFile() {
    if (!bytes_.empty())
      ::munmap(const_cast<char *>(bytes_.data()), bytes_.size());
  }
  MappedFile(const MappedFile &) = delete;
  MappedFile &operator=(const MappedFile &) = delete;
  std::string_view bytes() const { return bytes_; }

private:
  std::string_view bytes_;
};

struct EarlyKernel {
  std::size_t image; ///< its number
  std::string name;
  bool remembered;
};

/// What is kept of each fat binary of a file that is not a part of a program.
std::vector<std::string> kept_images(std::string_view file) {
  std::vector<std::string> kept;
  const auto images = read_fat_file(file);
  if (!images)
    return kept;
  const FatImage *last = nullptr;
  std::size_t all = 0;
  for (const FatImage &image : *images) {
    if (image.is_relocatable() || (last && last->binary == image.binary))
      continue;
    last = &image;
    launch::KeptImage one = launch::keep_fat(image.whole.data());
    all += one.bytes.size();
    if (all > most_kept)
      break;
    if (!one.bytes.empty())
      kept.push_back(std::move(one.bytes));
  }
  return kept;
}

} // namespace

void ask_early(const std::string &program, unsigned sm, std::string_view remembered,
               int directory) {
  const MappedFile file(program);
  const std::vector<std::string> images = kept_images(file.bytes());
  std::vector<EarlyKernel> kernels;
  for (std::size_t i = 0; i < images.size(); ++i)
    for (std::string &name : kernels_of(images[i], sm)) {
      const std::string line = launch::remembered_name(name, sm) + "\n";
      const std::size_t at = remembered.find(line);
      const bool known = at == 0 || (at != remembered.npos && remembered[at - 1] == '\n');
      kernels.push_back({i, std::move(name), known});
    }
  if (kernels.size() > most_unknown)
    std::erase_if(kernels, [](const EarlyKernel &one) { return !one.remembered; });
  if (kernels.size() > most_in_all)
    kernels.resize(most_in_all);
  std::set<std::size_t> written;
  std::string lines;
  for (const EarlyKernel &one : kernels) {
    const std::string hash = launch::long_hash(images[one.image]);
    const std::string id = launch::question_id(hash, sm, one.name);
    if ((written.insert(one.image).second &&
         !replace_file_at(directory, hash + ".image", images[one.image])) ||
        !replace_file_at(directory, id + ".question", launch::question_text(hash, sm, one.name)))
      return;
    lines += fmt::format("{} {}\n", id, launch::remembered_name(one.name, sm));
  }
  const int before = ::openat(directory, early_file, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
  if (before >= 0) {
    lines.insert(0, read_descriptor(before).value_or(""));
    ::close(before);
  }
  if (!lines.empty())
    (void)replace_file_at(directory, early_file, lines);
}

} // namespace ptxasw::wrapper::faster
