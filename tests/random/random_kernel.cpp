// The frame of a random kernel, which statement comes next, and the text of it all.

#include "random_kernel.h"

#include "generator.h"

#include <algorithm>
#include <iterator>

namespace ptxasw::test {
namespace {

void print(const Piece &piece, std::string &text) {
  const auto lines = [&](const std::vector<std::string> &list) {
    for (const std::string &line : list)
      text += (line.ends_with(':') ? "" : "\t") + line + "\n";
  };
  lines(piece.before);
  for (const auto &inner : piece.inside)
    if (inner)
      print(*inner, text);
  lines(piece.after);
}

void collect(Piece &piece, std::vector<std::unique_ptr<Piece> *> &to) {
  for (auto &inner : piece.inside)
    if (inner) {
      if (!inner->fixed)
        to.push_back(&inner);
      collect(*inner, to);
    }
}

} // namespace

Generator::Generator(std::uint64_t seed, bool shared)
    : random_(seed ^ 0x6b65726e656c), shared_(shared) {
  static constexpr Stores kinds[] = {Stores::none, Stores::own, Stores::own, Stores::own,
                                     Stores::own,  Stores::own, Stores::own, Stores::own,
                                     Stores::own,  Stores::own, Stores::own, Stores::in_place};
  stores_ = kinds[below(std::size(kinds))];
  tame_ = one_in(4);
}

RandomKernel Generator::kernel() {
  RandomKernel kernel;
  kernel.stores_between = stores_ != Stores::none;
  kernel.wraps = !tame_;
  kernel.body = std::make_unique<Piece>();
  std::unique_ptr<Piece> &body = kernel.body;
  static constexpr const char *directives[] = {"",
                                               "",
                                               "",
                                               ".maxntid 128",
                                               ".reqntid 64, 1, 1",
                                               ".reqntid 16, 4, 1",
                                               ".reqntid 96, 1, 1",
                                               ".maxntid 16, 16, 1",
                                               ".reqntid 33, 2, 1"};
  body->after = {directives[below(std::size(directives))]};
  auto &start = add(*body);
  start.fixed = true;
  start.before = prologue();
  body->before = {parameters_};
  choose_index(*body);
  if (shared_)
    fill_tile(*body);
  if (random_.below(3) != 0 && (!shared_ || one_in(2)))
    guard(*body);
  const auto count = 3 + random_.below(8);
  for (std::uint64_t i = 0; i < count; ++i)
    statement(*body, 0);
  auto &end = add(*body);
  end.fixed = true;
  end.before = {"st.global.u32 [%out], %acc;"};
  return kernel;
}

Piece &Generator::add(Piece &to) {
  to.inside.push_back(std::make_unique<Piece>());
  return *to.inside.back();
}

std::vector<std::string> Generator::prologue() {
  std::vector<std::string> lines = load_parameters();
  for (const char *line :
       {"mov.u64 %ga, %a;", "mov.u64 %gb, %b;", "cvta.to.global.u64 %a, %a;",
        "cvta.to.global.u64 %b, %b;", "cvta.to.global.u64 %out, %out;", "mov.u32 %tx, %tid.x;",
        "mov.u32 %ty, %tid.y;", "mov.u32 %tz, %tid.z;", "mov.u32 %nx, %ntid.x;",
        "mov.u32 %ny, %ntid.y;", "mov.u32 %nz, %ntid.z;", "mov.u32 %lane, %laneid;",
        "mov.u32 %acc, 17;",
        // This thread's number in the grid, and from it the place of its results.
        "mad.lo.u32 %t, %tz, %ny, %ty;", "mad.lo.u32 %flat, %t, %nx, %tx;", "mov.u32 %t, %ctaid.z;",
        "mov.u32 %u, %nctaid.y;", "mov.u32 %s, %ctaid.y;", "mad.lo.u32 %t, %t, %u, %s;",
        "mov.u32 %u, %nctaid.x;", "mov.u32 %bx, %ctaid.x;", "mad.lo.u32 %t, %t, %u, %bx;",
        "mul.lo.u32 %u, %nx, %ny;", "mul.lo.u32 %u, %u, %nz;", "mad.lo.u32 %t, %t, %u, %flat;",
        "mul.wide.u32 %own, %t, 64;", "add.s64 %out, %out, %own;"})
    lines.push_back(line);
  return lines;
}

std::vector<std::string> Generator::load_parameters() {
  switch (below(4)) {
  case 0:
    parameters_ = ".param .align 8 .b8 p[32]";
    return {"ld.param.v2.u64 {%a, %b}, [p];", "ld.param.u64 %out, [p+16];",
            "ld.param.v2.u32 {%n, %w}, [p+24];"};
  case 1: // a structure among others, extents first
    parameters_ = ".param .u64 p_out, .param .align 16 .b8 p[32]";
    return {"ld.param.u64 %out, [p_out];", "ld.param.v2.u32 {%w, %n}, [p+8];",
            "ld.param.u64 %a, [p+16];", "ld.param.u64 %b, [p+24];"};
  default:
    parameters_ = ".param .u64 p_a, .param .u64 p_b, .param .u64 p_out, .param .u32 p_n, "
                  ".param .u32 p_w";
    return {"ld.param.u64 %a, [p_a];", "ld.param.u64 %b, [p_b];", "ld.param.u64 %out, [p_out];",
            "ld.param.u32 %n, [p_n];", "ld.param.u32 %w, [p_w];"};
  }
}

void Generator::statement(Piece &to, unsigned) {
  if (shared_ && one_in(2))
    return shared_stencil(to);
  if (shared_ && one_in(5))
    return shared_interlude(add(to));
  switch (below(depth_ > 2 ? 12 : 18)) {
  case 0:
  case 1:
    return stencil(to);
  case 2:
    return one_in(5) && depth_ < 2 ? leave(to) : stencil(to);
  case 8:
  case 9:
    return store(to);
  case 10:
    return one_in(2) ? change_index(to) : synchronize(to);
  case 11:
    return interlude(to);
  case 12:
    return synchronize(to);
  case 13:
  case 14:
    return branch(to);
  case 15:
  case 16:
  case 17:
    return loop(to);
  default:
    return load(to);
  }
}

void Generator::statements(Piece &to, std::uint64_t count) {
  const auto indices_before = indices_;
  const auto pointers_before = pointers_;
  for (std::uint64_t i = 0; i < count; ++i)
    statement(to, depth_);
  indices_ = indices_before;
  pointers_ = pointers_before;
}

RandomKernel random_kernel(std::uint64_t seed, bool shared) {
  return Generator(seed, shared).kernel();
}

unsigned registers_named(const std::string &code, char letter) {
  unsigned result = 1;
  for (std::size_t at = code.find('%'); at != std::string::npos; at = code.find('%', at + 1))
    if (code[at + 1] == letter && code[at + 2] >= '0' && code[at + 2] <= '9')
      result = std::max(result, 1 + static_cast<unsigned>(std::stoul(code.substr(at + 2, 6))));
  return result;
}

std::string lines_of(const Piece &body) {
  std::string code;
  for (const auto &piece : body.inside)
    if (piece)
      print(*piece, code);
  return code;
}

std::string module_text(const Piece &body) {
  std::string text = R"(.version 7.8
.target sm_80
.address_size 64
.func (.param .b32 result) mix(.param .b32 value)
{
	.reg .b32 %r<4>;
	ld.param.b32 %r1, [value];
	mad.lo.u32 %r2, %r1, 5, 3;
	st.param.b32 [result], %r2;
	ret;
}
.func poke(.param .b64 place, .param .b32 value)
{
	.reg .b32 %r<2>;
	.reg .b64 %d<2>;
	ld.param.b64 %d1, [place];
	ld.param.b32 %r1, [value];
	st.global.u32 [%d1], %r1;
	ret;
}
)";
  const std::string code = lines_of(body);
  if (code.find("poke_shared") != std::string::npos)
    text += R"(.func poke_shared(.param .b32 place, .param .b32 value)
{
	.reg .b32 %r<3>;
	ld.param.b32 %r1, [place];
	ld.param.b32 %r2, [value];
	st.shared.u32 [%r1], %r2;
	ret;
}
)";
  text += fmt::format(".visible .entry random_kernel({})\n{}\n", body.before.front(),
                      body.after.front());
  text += fmt::format("{{\n\t.reg .b32 %r<{}>;\n\t.reg .b64 %d<{}>;\n\t.reg .pred %p<{}>;\n",
                      registers_named(code, 'r'), registers_named(code, 'd'),
                      registers_named(code, 'p'));
  text +=
      R"(	.reg .b32 %n, %w, %tx, %ty, %tz, %nx, %ny, %nz, %lane, %acc, %t, %u, %s, %flat, %bx, %i, %row;
	.reg .b64 %a, %b, %out, %own, %e, %pa, %pb, %ga, %gb;
	.shared .align 4 .b8 tile[4224];
)";
  if (code.find("%mine") != std::string::npos)
    text += "\t.reg .b32 %tile, %tile_own, %mine;\n\t.shared .align 8 .b8 mine[8192];\n";
  text += code;
  text += "DONE:\n\tret;\n}\n";
  return text;
}

std::vector<std::unique_ptr<Piece> *> removable_pieces(Piece &body) {
  std::vector<std::unique_ptr<Piece> *> list;
  collect(body, list);
  return list;
}

} // namespace ptxasw::test
