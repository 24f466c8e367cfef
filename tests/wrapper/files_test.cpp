#include "wrapper/os/files.h"

#include <cstdlib>
#include <doctest/doctest.h>
#include <filesystem>
#include <sys/stat.h>
#include <unistd.h>

using namespace ptxasw::test;
namespace fs = std::filesystem;

namespace {

/// A directory for one test.
class Scratch {
public:
  Scratch() { REQUIRE(::mkdtemp(name_.data())); }
  ~Scratch() { fs::remove_all(name_); }
  Scratch(const Scratch &) = delete;
  Scratch &operator=(const Scratch &) = delete;
  std::string operator/(const char *file) const { return name_ + "/" + file; }
  std::size_t entries() const {
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(name_), {}));
  }

private:
  std::string name_ = fs::temp_directory_path() / "ptxasw-files-XXXXXX";
};

mode_t mode(const std::string &path) {
  struct stat info {};
  REQUIRE(::stat(path.c_str(), &info) == 0);
  return info.st_mode & 0777;
}

} // namespace

TEST_CASE("a new file follows the umask, an old one keeps its mode") {
  const Scratch scratch;
  const mode_t before = ::umask(027);
  REQUIRE(write_file_atomically(scratch / "new", "x"));
  ::umask(before);
  CHECK(mode(scratch / "new") == 0640);
  REQUIRE(::chmod((scratch / "new").c_str(), 0600) == 0);
  REQUIRE(write_file_atomically(scratch / "new", "y"));
  CHECK(mode(scratch / "new") == 0600);
  CHECK(read_regular_file(scratch / "new") == "y");
  CHECK(scratch.entries() == 1);
}

TEST_CASE("a link stays a link, also if it leads to nothing yet") {
  const Scratch scratch;
  fs::create_symlink("target", scratch / "link");
  REQUIRE(write_file_atomically(scratch / "link", "x"));
  CHECK(fs::is_symlink(scratch / "link"));
  CHECK(read_regular_file(scratch / "target") == "x");
}

TEST_CASE("what cannot be written is an error and leaves nothing behind") {
  const Scratch scratch;
  CHECK_FALSE(write_file_atomically(scratch / "no/such/file", "x"));
  CHECK_FALSE(write_file_atomically("/dev/full", "x"));
  CHECK(write_file_atomically("/dev/null", "x"));
  CHECK(scratch.entries() == 0);
}

TEST_CASE("only regular files are read, whole") {
  const Scratch scratch;
  CHECK_FALSE(read_regular_file(scratch / "missing"));
  CHECK_FALSE(read_regular_file("/dev/null"));
  REQUIRE(::mkfifo((scratch / "pipe").c_str(), 0600) == 0);
  CHECK_FALSE(read_regular_file(scratch / "pipe"));
  for (const std::size_t size : {0, 1, 65535, 65536, 65537, 1000000}) {
    REQUIRE(write_file_atomically(scratch / "file", std::string(size, 'x')));
    CHECK(read_regular_file(scratch / "file")->size() == size);
  }
}

TEST_CASE("a memory file can be read again by its path") {
  const int file = make_memory_file("label", "hello");
  REQUIRE(file >= 0);
  CHECK(read_regular_file("/proc/self/fd/" + std::to_string(file)) == "hello");
  ::close(file);
}
