#include "tests/launch/unprepared.h"

#include <cstdlib>
#include <cstring>
#include <unistd.h>

namespace host {

std::string kernel_text(const std::string &name, const std::string &load) {
  return ".visible .entry " + name + "(\n\t.param .u64 " + name + "_param_0,\n\t.param .u64 " +
         name + "_param_1,\n\t.param .u32 " + name + R"(_param_2
)
{
	.reg .pred 	%p<2>;
	.reg .b32 	%r<8>;
	.reg .b64 	%rd<8>;
	ld.param.u64 	%rd1, [)" +
         name + "_param_0];\n\tld.param.u64 	%rd2, [" + name +
         "_param_1];\n\tld.param.u32 	%r2, [" + name + R"(_param_2];
	mov.u32 	%r0, %ctaid.x;
	mov.u32 	%r4, %ntid.x;
	mov.u32 	%r5, %tid.x;
	mad.lo.s32 	%r1, %r0, %r4, %r5;
	setp.ge.s32 	%p1, %r1, %r2;
	@%p1 bra 	$done;
	cvta.to.global.u64 	%rd3, %rd2;
	mul.wide.s32 	%rd4, %r1, 4;
	add.s64 	%rd5, %rd3, %rd4;
	ld.global.u32 	%r6, [%rd5];
	)" +
         load +
         R"(
	add.s32 	%r7, %r6, %r3;
	cvta.to.global.u64 	%rd6, %rd1;
	add.s64 	%rd7, %rd6, %rd4;
	st.global.u32 	[%rd7], %r7;
$done:
	ret;
}
)";
}

std::string ptx() {
  const char *const kernel = std::getenv("FASTER_KERNEL");
  const std::string_view wanted = kernel ? kernel : "";
  return "//\n// Generated\n.version 8.0\n.target sm_90\n.address_size 64\n"
         ".global .align 4 .b8 gain[16];\n.const .align 4 .u32 bias;\n" +
         kernel_text("add", "mov.u32 \t%r3, 1;") +
         kernel_text("scaled", "ld.global.u32 \t%r3, [gain+4];") +
         ".global .attribute(.unified(1, 2)) .align 4 .b8 tagged[16];\n" +
         kernel_text("attributed", "ld.global.u32 \t%r3, [tagged+4];") +
         kernel_text("biased", "ld.const.u32 \t%r3, [bias];") +
         kernel_text("indexed", "mov.u64 \t%rd0, bias;\n\tadd.s64 \t%rd0, %rd0, 0;\n"
                                "\tld.const.u32 \t%r3, [%rd0];") +
         // Where it lies in constant memory is another number than where it lies in global memory.
         kernel_text("stores", "mov.u64 \t%rd0, bias;\n\tcvt.u32.u64 \t%r3, %rd0;") +
         kernel_text("mixed", "mov.u64 \t%rd0, bias;\n\t@%p1 mov.u64 \t%rd0, 16;\n"
                              "\tld.const.u32 \t%r3, [%rd0];") +
         kernel_text("summed", "mov.u64 \t%rd0, bias;\n\tadd.s64 \t%rd0, %rd0, %rd0;\n"
                               "\tld.const.u32 \t%r3, [%rd0];") +
         kernel_text("generic", "cvta.const.u64 \t%rd0, bias;\n\tld.u32 \t%r3, [%rd0];") +
         kernel_text("anywhere", "ld.const.u32 \t%r3, [bias];\n\tcvt.u64.u32 \t%rd0, %r2;\n"
                                 "\tld.const.u32 \t%r3, [%rd0];") +
         kernel_text("waits", "bar.sync 0;") +
         ".global .texref picture;\n.global .attribute(.managed) .align 4 .b8 everywhere[16];\n"
         ".extern .global .align 4 .b8 elsewhere[16];\n"
         ".extern .func (.param .b32 result) vprintf (.param .b64 format, .param .b64 values);\n" +
         kernel_text("looks_up", "tex.1d.v4.u32.s32 \t{%r3, %r5, %r6, %r7}, [picture, {%r1}];") +
         kernel_text("manages", "ld.global.u32 \t%r3, [everywhere+4];") +
         kernel_text("links", "ld.global.u32 \t%r3, [elsewhere+4];") +
         kernel_text("prints",
                     "{\n\t.param .b64 format, values;\n\t.param .b32 result;\n"
                     "\tst.param.b64 \t[format], %rd1;\n\tst.param.b64 \t[values], %rd2;\n"
                     "\tcall.uni \t(result), vprintf, (format, values);\n"
                     "\tld.param.b32 \t%r3, [result];\n\t}") +
         kernel_text("starts", "mov.u64 \t%rd0, add;\n\tcvt.u32.u64 \t%r3, %rd0;") +
         // Of more than sixteen kernels none is asked about early.
         (wanted == "points"
              ? ".func helper { ret; }\n" +
                    kernel_text("points", "mov.u64 \t%rd0, helper;\n\tcvt.u32.u64 \t%r3, %rd0;")
              : "");
}

FatBinary::FatBinary(const std::string &text, unsigned ptx_sm, unsigned code_sm, bool twice,
                     const std::string &code, const std::string &options)
    : options_(options) {
  bytes_.assign("\x50\xed\x55\xba\x01\x00\x10\x00", 8);
  bytes_.resize(16);
  if (code_sm != 0)
    add(2, code_sm, code.empty() ? text : code);
  add(1, ptx_sm, text);
  if (twice)
    add(1, ptx_sm, text, 0x100000);
  const std::uint64_t size = bytes_.size() - 16;
  std::memcpy(bytes_.data() + 8, &size, sizeof size);
  wrapper_ = {0x466243b1, 1, bytes_.data(), nullptr};
}

void FatBinary::add(std::uint16_t kind, std::uint32_t sm, const std::string &text,
                    std::uint64_t flags) {
  std::array<char, 64> header{};
  const auto put = [&](std::size_t at, auto number) {
    std::memcpy(header.data() + at, &number, sizeof number);
  };
  put(0, kind);
  put(2, std::uint16_t{0x101});
  put(4, std::uint32_t{64});
  put(8, static_cast<std::uint64_t>((text.size() + 8) / 8 * 8));
  put(28, sm);
  put(40, flags);
  std::string behind;
  if (!options_.empty()) { // where they are, how long they are, and they
    const std::array<std::uint32_t, 2> where = {72, static_cast<std::uint32_t>(options_.size())};
    behind.assign(reinterpret_cast<const char *>(where.data()), sizeof where);
    behind += options_;
    behind.resize((behind.size() + 7) / 8 * 8);
    put(4, static_cast<std::uint32_t>(64 + behind.size()));
    put(20, std::uint32_t{64});
  }
  bytes_.append(header.data(), header.size());
  bytes_ += behind;
  bytes_ += text;
  bytes_.append((text.size() + 8) / 8 * 8 - text.size(), '\0');
}

Handle load_by(const char *hook, const void *image) {
  Handle module = nullptr;
  call<Handle *, const void *>(hook, &module, image);
  return module;
}

Handle library_of(const void *image) {
  Handle library = nullptr;
  call<Handle *, const void *, int *, void **, unsigned, int *, void **, unsigned>(
      "cuLibraryLoadData", &library, image, nullptr, nullptr, 0, nullptr, nullptr, 0);
  return library;
}

std::uint64_t memory(unsigned n) {
  std::uint64_t address = 0;
  call<std::uint64_t *, std::size_t>("cuMemAlloc_v2", &address, n * sizeof(int));
  std::memset(reinterpret_cast<void *>(address), 0, n * sizeof(int));
  return address;
}

void Launches::once(Handle stream) {
  unsigned n = n_;
  void *list[] = {&to_, &from_, &n};
  CHECK(symbol<LaunchFunction>("cuLaunchKernel")(function_, 64, 1, 1, block_, 1, 1, 0, stream, list,
                                                 nullptr) == 0);
}

void Launches::once_with_a_buffer() {
  struct {
    std::uint64_t to, from;
    unsigned n;
  } packed{to_, from_, elements};
  std::size_t bytes = 20;
  void *extra[] = {reinterpret_cast<void *>(1), &packed, reinterpret_cast<void *>(2), &bytes,
                   nullptr};
  CHECK(symbol<LaunchFunction>("cuLaunchKernel")(function_, 64, 1, 1, 256, 1, 1, 0, nullptr,
                                                 nullptr, extra) == 0);
}

std::string Launches::until_a_version_runs() {
  for (int i = 0; i < 300000; ++i) {
    once();
    const std::string said = history();
    if (has(said, "__ptxasw_") && has(said, "launch "))
      return said;
    ::usleep(1000);
  }
  return "";
}

int Launches::versions_of(int launches) {
  history();
  int found = 0;
  for (int i = 0; i < launches; ++i) {
    once();
    found += has(history(), "__ptxasw_");
  }
  return found;
}

void expect_faster(Handle f) {
  Launches launches(f);
  CHECK(launches.versions_of(11) == 0 || std::getenv("FASTER_KNOWN"));
  CHECK(!launches.until_a_version_runs().empty());
  launches.versions_of(600);
  CHECK(launches.versions_of(50) == 50);
}

} // namespace host
