// Most draws are what wide accesses are proposed for, and a few in each kernel are what stands in
// the way or must be seen: an offset that is not aligned, an index that wraps, a store between two
// loads, a branch that copies take differently.
//
// Loops over the grid go along one axis, two or three, by indices of 32 or 64 bits, and are tested
// at their head or foot in all ways that a comparison has. A few go on by more than there are
// threads, or to a bound that changes.

#include "wide_kernel.h"

#include "emulator/machine/warp_memory.h"

#include <fmt/core.h>
#include <fmt/format.h>

namespace ptxasw::test {
namespace {

/// Elements of an array.
struct Element {
  const char *type;
  unsigned bytes;
  char letter; ///< of registers that hold one
};

constexpr Element elements[] = {{"f32", 4, 'f'}, {"f32", 4, 'f'}, {"u32", 4, 'r'}, {"b32", 4, 'r'},
                                {"f64", 8, 'g'}, {"u64", 8, 'd'}, {"u8", 1, 'h'},  {"s8", 1, 'r'},
                                {"u16", 2, 'h'}, {"b16", 2, 'h'}, {"s32", 4, 'r'}};

struct Array {
  std::string name; ///< the register with its address
  Element element;
  bool is_written = false;
};

class WideGenerator {
public:
  WideGenerator(std::uint64_t seed, bool with_loops)
      : random_(seed ^ 0x776964656b65726e), of_columns_(seed ^ 0x636f6c756d6e),
        with_loops_(with_loops) {}

  RandomKernel kernel() {
    RandomKernel kernel;
    kernel.body = std::make_unique<Piece>();
    Piece &body = *kernel.body;
    static constexpr const char *directives[] = {
        "", "", "", "", ".maxntid 256", ".maxntid 64, 4, 1"};
    body.after = {directives[below(std::size(directives))]};
    Piece &start = fixed(body);
    body.before = {parameters(start)};
    numbering(start);
    if (!with_loops_ && !one_in(3)) {
      guard(body);
      work(body);
    } else {
      for (std::uint64_t i = 0, loops = 1 + one_in(6); i < loops; ++i)
        loops_over_grid(body);
    }
    return kernel;
  }

private:
  std::uint64_t below(std::uint64_t n) { return random_.below(n); }
  bool one_in(std::uint64_t n) { return random_.one_in(n); }
  static Piece &add(Piece &to) {
    to.inside.push_back(std::make_unique<Piece>());
    return *to.inside.back();
  }
  static Piece &fixed(Piece &to) {
    Piece &piece = add(to);
    piece.fixed = true;
    return piece;
  }
  std::string fresh(char letter) {
    unsigned &next = next_[static_cast<unsigned char>(letter)];
    return fmt::format("%{}{}", letter, 10 + next++);
  }
  std::string label() { return fmt::format("L{}", labels_++); }
  static void line(Piece &piece, std::string text) { piece.before.push_back(std::move(text)); }

  /// Four arrays and two numbers, singly or in one structure.
  std::string parameters(Piece &to) {
    for (unsigned i = 0; i < 4; ++i)
      arrays_.push_back({fmt::format("%d{}", i), elements[below(std::size(elements))], i >= 2});
    if (one_in(2)) // what is read and what is written mostly has one type
      arrays_[1].element = arrays_[2].element = arrays_[0].element;
    const bool one_structure = one_in(4);
    for (unsigned i = 0; i < 4; ++i) {
      line(to, one_structure ? fmt::format("ld.param.u64 %d{}, [p+{}];", i, 8 * i)
                             : fmt::format("ld.param.u64 %d{}, [p_{}];", i, i));
      if (!one_in(4))
        line(to, fmt::format("cvta.to.global.u64 %d{0}, %d{0};", i));
    }
    line(to, one_structure ? "ld.param.u32 %n, [p+32];" : "ld.param.u32 %n, [p_n];");
    line(to, one_structure ? "ld.param.u32 %w, [p+36];" : "ld.param.u32 %w, [p_w];");
    if (with_loops_)
      line(to, one_structure ? "ld.param.u64 %m, [p+40];" : "ld.param.u64 %m, [p_m];");
    else
      line(to, "cvt.u64.u32 %m, %n;");
    return one_structure ? ".param .align 8 .b8 p[48]"
                         : ".param .u64 p_0, .param .u64 p_1, .param .u64 p_2, .param .u64 p_3, "
                           ".param .u32 p_n, .param .u32 p_w, .param .u64 p_m";
  }

  /// The thread's number along x, %i, and maybe along another axis, %y.
  void numbering(Piece &to) {
    const char *sign = one_in(2) ? "s32" : "u32";
    line(to, "mov.u32 %acc, 17;");
    line(to, "mov.u32 %r1, %ctaid.x;");
    line(to, "mov.u32 %r2, %ntid.x;");
    line(to, "mov.u32 %r3, %tid.x;");
    switch (below(4)) {
    case 0:
      line(to, fmt::format("mul.lo.{} %r4, %r2, %r1;", sign));
      line(to, fmt::format("add.{} %i, %r4, %r3;", sign));
      break;
    case 1:
      line(to, fmt::format("mad.lo.{} %i, %r2, %r1, %r3;", sign));
      break;
    default:
      line(to, fmt::format("mad.lo.{} %i, %r1, %r2, %r3;", sign));
    }
    rows_ = one_in(3);
    for (unsigned &first : first_)
      first = one_in(4) ? static_cast<unsigned>(below(3)) : 0;
    if (!rows_)
      return;
    row_axis_ = one_in(4) ? 'z' : 'y';
    planes_ = with_loops_ && row_axis_ == 'y' && one_in(2);
    loops_along_y_ = planes_ || !one_in(3);
    loops_along_z_ = planes_ && !one_in(3);
    for (const char axis : {row_axis_, 'z'}) {
      const bool rows = axis == 'y' || !planes_;
      line(to, fmt::format("mov.u32 %r4, %ctaid.{};", axis));
      line(to, fmt::format("mov.u32 %r5, %ntid.{};", axis));
      line(to, fmt::format("mov.u32 %r6, %tid.{};", axis));
      line(to, fmt::format("mad.lo.s32 {}, %r4, %r5, %r6;", rows ? "%y" : "%z"));
      if (!planes_)
        break;
    }
  }

  /// What is done for a thread's elements.
  void work(Piece &to) {
    place(fixed(to));
    const auto count = 1 + below(3);
    for (std::uint64_t i = 0; i < count; ++i)
      statement(to, 0);
    if (rows_ && of_columns_.one_in(2))
      column(add(to));
    store(fixed(to), true);
  }

  /// Some rows of a column or two, the next one by a step of the pointer or of the index.
  void column(Piece &piece) {
    const Array &array = arrays_[of_columns_.below(2)];
    const unsigned bytes = array.element.bytes;
    const bool by_pointer = of_columns_.one_in(2), shares = of_columns_.one_in(3);
    const std::string step = fresh(by_pointer ? 'd' : 'r'), index = fresh('r');
    std::string base;
    if (!by_pointer)
      line(piece, fmt::format("mul.lo.s32 {}, {}, {};", step, pitch_, own_));
    else if (pitch_ == "%n")
      line(piece, fmt::format("mul.wide.s32 {}, %n, {};", step, bytes * own_));
    else
      line(piece, fmt::format("mov.b64 {}, {};", step, std::stoul(pitch_) * bytes * own_));
    line(piece, fmt::format("mov.u32 {}, %x;", index));
    if (shares)
      line(piece, "mov.u32 %r4, 3;");
    for (std::uint64_t row = 0, rows = 3 + of_columns_.below(3); row < rows; ++row) {
      const std::string next = fresh('d');
      if (row > 0 && by_pointer) {
        line(piece, fmt::format("add.s64 {}, {}, {};", next, base, step));
      } else {
        if (row > 0)
          line(piece, fmt::format("add.s32 {0}, {0}, {1};", index, step));
        line(piece, fmt::format("mul.wide.s32 {}, {}, {};", next, index, bytes));
        line(piece, fmt::format("add.s64 {0}, {1}, {0};", next, array.name));
      }
      base = next;
      std::vector<std::string> values;
      for (std::uint64_t i = 0, beside = 1 + of_columns_.below(3); i < beside; ++i) {
        values.push_back(fresh(array.element.letter));
        line(piece, fmt::format("ld.global.{} {}, [{}+{}];", array.element.type, values.back(),
                                base, i * bytes));
        if (!of_columns_.one_in(3)) {
          use(piece, array.element, values.back());
          values.pop_back();
        }
      }
      for (const std::string &value : values)
        use(piece, array.element, value);
      if (shares) { // registers that all copies share, or those of a column
        line(piece,
             fmt::format("mad.lo.s32 %r4, %r4, 3, {};", of_columns_.one_in(2) ? "%w" : "%i"));
        line(piece, "xor.b32 %acc, %acc, %r4;");
      }
      if (of_columns_.one_in(12))
        store(piece, false);
    }
  }

  /// Loops over all elements, or all of some rows, or of rows in planes.
  void loops_over_grid(Piece &body) {
    Piece *inner = &body;
    if (loops_along_z_)
      inner = &loop_over_grid(*inner, 'z', "%z", "3");
    if (rows_ && loops_along_y_)
      inner = &loop_over_grid(*inner, row_axis_, "%y", "%w");
    work(loop_over_grid(*inner, 'x', "%i", "%n"));
  }

  /// What the special registers of an axis hold, in 32 bits or, by any of several ways, in 64.
  std::string of_axis(Piece &to, char axis, const char *what) {
    const std::string r = fresh('r');
    line(to, fmt::format("mov.u32 {}, %{}.{};", r, what, axis));
    return r;
  }
  std::string extended(Piece &to, const std::string &from, bool with_sign) {
    const std::string d = fresh('d');
    line(to, fmt::format("cvt.{0}64.{0}32 {1}, {2};", with_sign ? 's' : 'u', d, from));
    return d;
  }
  std::string product(Piece &to, char axis, const char *blocks, bool wide) {
    const std::string b = of_axis(to, axis, blocks), t = of_axis(to, axis, "ntid");
    const std::string all = fresh(wide ? 'd' : 'r');
    if (wide && one_in(2)) {
      line(to, fmt::format("mul.wide.u32 {}, {}, {};", all, b, t));
    } else if (wide && one_in(2)) {
      const std::string left = extended(to, b, false), right = extended(to, t, one_in(2));
      line(to, fmt::format("mul.lo.s64 {}, {}, {};", all, left, right));
    } else if (wide) {
      const std::string narrow = product(to, axis, blocks, false);
      line(to, fmt::format("cvt.u64.u32 {}, {};", all, narrow));
    } else {
      line(to, fmt::format("mul.lo.{} {}, {}, {};", one_in(2) ? "s32" : "u32", all, b, t));
    }
    return all;
  }

  /// `for (index = the thread's number + h; index < bound + c; index += all threads)`; where it is
  /// of 64 bits, its lower half is the index.
  Piece &loop_over_grid(Piece &to, char axis, const std::string &index, const std::string &bound) {
    Piece &piece = fixed(to);
    const bool wide = one_in(3), with_sign = one_in(2), changes = one_in(16);
    const char *const bits = wide ? "64" : "32";
    const std::string counter = fresh(wide ? 'd' : 'r'), thread = of_axis(piece, axis, "tid");
    const auto add = [&](const std::string &result, const std::string &left,
                         const std::string &right) {
      line(piece, fmt::format("add.s{} {}, {}, {};", bits, result, left, right));
    };
    // Where it begins, and how it goes on: a few by more than is needed.
    const std::string before = product(piece, axis, "ctaid", wide);
    add(counter, before, wide ? extended(piece, thread, false) : thread);
    const unsigned first = first_[axis - 'x'];
    if (first > 0)
      add(counter, counter, std::to_string(first));
    const std::string step = product(piece, axis, "nctaid", wide);
    if (one_in(16))
      add(step, step, one_in(2) ? step : "1");
    // Where it ends.
    const int more = one_in(3) ? -static_cast<int>(below(3)) : first > 0 ? 1 : 0;
    const bool closed = one_in(4);
    const bool parameter = wide && axis == 'x' && one_in(2);
    std::string end = fresh('r');
    line(piece, fmt::format("mov.u32 {}, {};", end, bound));
    if (parameter) {
      end = fresh('d');
      line(piece, fmt::format("mov.u64 {}, %m;", end));
    }
    const bool late = wide && !parameter && one_in(2);
    if (wide && !parameter && !late)
      end = extended(piece, end, one_in(2));
    const std::string sum = fresh(wide && !late ? 'd' : 'r');
    line(piece, fmt::format("add.s{} {}, {}, {};", late ? "32" : bits, sum, end, more - closed));
    end = late ? extended(piece, sum, one_in(2)) : sum;
    if (changes)
      end = changing(piece, end, bits);
    test_loop(piece, fmt::format("{}{}", with_sign ? 's' : 'u', bits), counter, end, closed,
              [&](std::vector<std::string> &lines) {
                if (changes)
                  lines.push_back(fmt::format("add.s{0} {1}, {1}, -1;", bits, end));
                lines.push_back(fmt::format("add.s{0} {1}, {1}, {2};", bits, counter, step));
              });
    line(piece, fmt::format("{} {}, {};", wide ? "cvt.u32.u64" : "mov.u32", index, counter));
    if (axis == 'x')
      wide_index_ = wide ? counter : "";
    return piece;
  }

  /// A bound of its own, for a loop that changes it.
  std::string changing(Piece &to, const std::string &bound, const char *bits) {
    const std::string own = fresh(bound[1]);
    line(to, fmt::format("mov.u{} {}, {};", bits, own, bound));
    return own;
  }

  /// The tests of a loop that is left unless `counter < end`, or unless it is no larger; `step`
  /// adds what is done between two rounds.
  template <typename Step>
  void test_loop(Piece &piece, const std::string &type, const std::string &counter,
                 const std::string &end, bool closed, const Step &step) {
    const std::string start = label(), behind = label();
    // A predicate of whether to stay, or of whether not to, and the guard that means to stay.
    const auto test = [&](std::vector<std::string> &lines) {
      const bool swapped = one_in(3), stays = one_in(2);
      const std::string p = fresh('p');
      const char *const open_tests[] = {"ge", "lt", "le", "gt"}, *const closed_tests[] = {
                                                                     "gt", "le", "lt", "ge"};
      lines.push_back(fmt::format("setp.{}.{} {}, {}, {};",
                                  (closed ? closed_tests : open_tests)[2 * swapped + stays], type,
                                  p, swapped ? end : counter, swapped ? counter : end));
      return std::pair((stays ? "@" : "@!") + p, (stays ? "@!" : "@") + p);
    };
    const auto add = [](std::vector<std::string> &lines, std::initializer_list<std::string> more) {
      lines.insert(lines.end(), more);
    };
    if (one_in(3)) { // at its head
      piece.before.push_back(start + ":");
      const auto tested = test(piece.before);
      if (one_in(2)) {
        add(piece.before, {fmt::format("{} bra {};", tested.second, behind)});
      } else {
        const std::string inside = label();
        add(piece.before, {fmt::format("{} bra {};", tested.first, inside),
                           fmt::format("bra {};", behind), inside + ":"});
      }
      step(piece.after);
      add(piece.after, {fmt::format("bra {};", start), behind + ":"});
      return;
    }
    const auto before = test(piece.before);
    add(piece.before, {fmt::format("{} bra {};", before.second, behind), start + ":"});
    step(piece.after);
    const auto after = test(piece.after);
    if (one_in(3))
      add(piece.after,
          {fmt::format("{} bra {};", after.second, behind), fmt::format("bra {};", start)});
    else
      add(piece.after, {fmt::format("{} bra {};", after.first, start)});
    piece.after.push_back(behind + ":");
  }

  /// Threads beyond the end, or at an edge, do not take part.
  void guard(Piece &body) {
    if (one_in(6) && !rows_)
      return;
    Piece &piece = rows_ ? fixed(body) : add(body);
    const char *sign = one_in(2) ? "s32" : "u32";
    line(piece, fmt::format("setp.ge.{} %p1, %i, %n;", sign));
    if (rows_) {
      line(piece, fmt::format("setp.ge.{} %p2, %y, %w;", sign));
      line(piece, "or.pred %p1, %p1, %p2;");
    }
    if (one_in(4)) {
      line(piece, "setp.eq.s32 %p3, %i, 0;");
      line(piece, "or.pred %p1, %p1, %p3;");
    }
    line(piece, one_in(3) ? "@%p1 ret;" : "@%p1 bra DONE;");
  }

  /// The first element of a thread, %x, and how many it has.
  void place(Piece &to) {
    if (!place_.empty()) { // of an earlier loop: elements stay a thread's own
      to.before = place_;
      return;
    }
    const std::string row = planes_ ? fresh('r') : "%y";
    if (planes_)
      line(to, fmt::format("mad.lo.s32 {}, %z, %w, %y;", row));
    if (rows_)
      pitch_ = one_in(with_loops_ ? 8 : 3) ? "64" : !with_loops_ && one_in(4) ? "30" : "%n";
    if (rows_)
      line(to, fmt::format("mad.lo.s32 %x, {}, {}, %i;", row, pitch_));
    else
      line(to, "mov.u32 %x, %i;");
    if (one_in(5)) {
      own_ = 1u << (1 + below(2));
      line(to, one_in(2) ? fmt::format("shl.b32 %x, %x, {};", own_ / 2)
                         : fmt::format("mul.lo.s32 %x, %x, {};", own_));
    }
    if (one_in(4))
      line(to, fmt::format("add.s32 %x, %x, {};", 1 + below(4)));
    if (one_in(12)) {
      static constexpr std::uint32_t far[] = {0x7ffffffb, 0x7ffffffc, 0xfffffffa,
                                              0xfffffff8, 0x3ffffffe, 0x80000000};
      line(to, fmt::format("add.s32 %x, %x, {};", far[below(std::size(far))]));
    }
    place_ = to.before;
  }

  /// An index to read: the thread's own, a neighbour's, sometimes one that others have as well.
  std::string index(Piece &to) {
    if (!one_in(3))
      return "%x";
    const std::string r = fresh('r');
    switch (below(9)) {
    case 0:
      line(to, fmt::format("shr.u32 {}, %x, {};", r, 1 + below(2)));
      break;
    case 1:
      line(to, fmt::format("and.b32 {}, %x, {};", r, (1u << (2 + below(6))) - 1));
      break;
    case 2:
      line(to, fmt::format("sub.s32 {}, %n, %x;", r));
      break;
    case 3:
      line(to, fmt::format("xor.b32 {}, %x, {};", r, 1 + below(4)));
      break;
    case 4:
      line(to, fmt::format("add.s32 {}, %x, %w;", r));
      break;
    case 5:
      line(to, fmt::format("mad.lo.s32 {}, %n, {}, %x;", r, below(3)));
      break;
    case 6:
      line(to, fmt::format("shl.b32 {}, %x, {};", r, below(2)));
      break;
    case 7:
      line(to,
           fmt::format("cvt.{}32.{}16 {}, %x;", one_in(2) ? 's' : 'u', one_in(2) ? 's' : 'u', r));
      break;
    default:
      line(to, fmt::format("add.s32 {}, %x, {};", r, static_cast<int>(below(9)) - 4));
    }
    return r;
  }

  /// A register with the address of an array's element.
  std::string address(Piece &to, const Array &array, const std::string &index) {
    const std::string bytes = fresh('d'), result = fresh('d');
    const unsigned scale = array.element.bytes;
    const bool is_index = index == "%x" && place_ == std::vector<std::string>{"mov.u32 %x, %i;"};
    if (is_index && !wide_index_.empty() && one_in(2)) {
      line(to, fmt::format("mul.lo.s64 {}, {}, {};", bytes, wide_index_, scale));
      line(to, fmt::format("add.s64 {}, {}, {};", result, array.name, bytes));
      return result;
    }
    switch (below(5)) {
    case 0:
      line(to, fmt::format("mul.wide.u32 {}, {}, {};", bytes, index, scale));
      break;
    case 1:
      line(to, fmt::format("cvt.s64.s32 {}, {};", bytes, index));
      line(to, fmt::format("shl.b64 {0}, {0}, {1};", bytes, scale / 2 - scale / 8));
      break;
    case 2:
      line(to, fmt::format("cvt.u64.u32 {}, {};", bytes, index));
      line(to, fmt::format("mul.lo.s64 {0}, {0}, {1};", bytes, scale));
      break;
    default:
      line(to, fmt::format("mul.wide.s32 {}, {}, {};", bytes, index, scale));
    }
    line(to, fmt::format("add.s64 {}, {}, {};", result, array.name, bytes));
    return result;
  }

  void use(Piece &to, const Element &element, const std::string &value) {
    std::string word = value;
    if (element.letter != 'r') {
      word = fresh('r');
      if (element.letter == 'f')
        line(to, fmt::format("mov.b32 {}, {};", word, value));
      else if (element.letter == 'h')
        line(to, fmt::format("cvt.u32.u16 {}, {};", word, value));
      else {
        const std::string low = fresh('r');
        line(to, fmt::format("mov.b64 {{{}, {}}}, {};", low, word, value));
        line(to, fmt::format("xor.b32 {0}, {0}, {1};", word, low));
      }
    }
    line(to, fmt::format("mad.lo.u32 %acc, %acc, {}, {};", 3 + 2 * below(50), word));
  }

  std::string condition(Piece &to) {
    const std::string p = fresh('p'), t = fresh('r');
    switch (below(5)) {
    case 0: // the same for all
      line(to, fmt::format("setp.gt.s32 {}, %w, {};", p, below(40)));
      break;
    case 1:
      line(to, fmt::format("and.b32 {}, %acc, {};", t, 1 + below(3)));
      line(to, fmt::format("setp.ne.s32 {}, {}, 0;", p, t));
      break;
    case 2:
      line(to, fmt::format("shr.u32 {}, %i, 3;", t));
      line(to, fmt::format("setp.lt.u32 {}, {}, 2;", p, t));
      break;
    case 3:
      line(to, fmt::format("setp.lt.s32 {}, %i, {};", p, 1 + below(30)));
      break;
    default:
      line(to, fmt::format("and.b32 {}, %i, {};", t, 1 + below(7)));
      line(to, fmt::format("setp.eq.s32 {}, {}, 0;", p, t));
    }
    return p;
  }

  std::string guarded(Piece &to) {
    return one_in(14) ? fmt::format("@{}{} ", one_in(3) ? "!" : "", condition(to)) : "";
  }

  std::string opcode_of_load(const Array &array) {
    static constexpr const char *plain[] = {"", "", "", "", "", ".ca", ".cg", ".L1::evict_last"};
    if (one_in(80))
      return fmt::format("ld.volatile.global.{}", array.element.type);
    return !array.is_written && one_in(4)
               ? fmt::format("ld.global.nc.{}", array.element.type)
               : fmt::format("ld.global{}.{}", plain[below(std::size(plain))], array.element.type);
  }

  /// Elements around one place, or those that the thread has.
  void loads(Piece &to) {
    Piece &piece = add(to);
    const Array &array = arrays_[below(2)];
    const std::string base = address(piece, array, index(piece));
    const std::string opcode = opcode_of_load(array);
    const bool stencil = one_in(3), all = own_ > 1 && !one_in(3);
    const auto count = all ? own_ : stencil ? 2 + below(4) : 1;
    std::vector<std::string> values;
    for (unsigned i = 0; i < count; ++i) {
      const int at = all         ? static_cast<int>(i)
                     : stencil   ? static_cast<int>(below(7)) - 3
                     : one_in(5) ? static_cast<int>(below(5)) - 2
                                 : 0;
      values.push_back(fresh(array.element.letter));
      const std::string guard = guarded(piece);
      if (!guard.empty()) // what it leaves as it was nobody defines
        line(piece, fmt::format("mov.b{} {}, 0;", bits(array.element.letter), values.back()));
      line(piece, fmt::format("{}{} {}, [{}+{}];", guard, opcode, values.back(), base,
                              at * static_cast<int>(array.element.bytes)));
      if (one_in(8))
        use(piece, array.element, values.back());
      if (one_in(30))
        store(piece, false);
    }
    for (const std::string &value : values)
      use(piece, array.element, value);
  }

  static unsigned bits(char letter) {
    return letter == 'h' ? 16 : letter == 'd' || letter == 'g' ? 64 : 32;
  }

  /// To the thread's own elements of an array that is only written, or, in place, read by itself.
  void store(Piece &piece, bool all) {
    const Array &array = arrays_[2 + (one_in(4) ? 1 : 0)];
    const Element &element = array.element;
    const std::string base = address(piece, array, "%x");
    for (unsigned i = 0; i < own_; ++i) {
      const unsigned at = i * element.bytes;
      if (one_in(6)) { // in place
        const std::string old = fresh(element.letter);
        line(piece, fmt::format("ld.global.{} {}, [{}+{}];", element.type, old, base, at));
        use(piece, element, old);
      }
      std::string value = fresh(element.letter);
      if (element.letter == 'f')
        line(piece, fmt::format("mov.b32 {}, %acc;", value));
      else if (element.letter == 'h')
        line(piece, fmt::format("cvt.u16.u32 {}, %acc;", value));
      else if (element.letter == 'r')
        line(piece, fmt::format("xor.b32 {}, %acc, {};", value, i));
      else
        line(piece, fmt::format("mov.b64 {}, {{%acc, %i}};", value));
      const std::string guard = guarded(piece);
      if (all || !one_in(5))
        line(piece,
             fmt::format("{}st.global.{} [{}+{}], {};", guard, element.type, base, at, value));
    }
  }

  /// Steps along a row, or a few times the same.
  void loop(Piece &to, int depth) {
    Piece &piece = add(to);
    const Array &array = arrays_[below(2)];
    const std::string start = label(), pointer = address(piece, array, index(piece));
    const std::string counter = fresh('r'), p = fresh('p'), t = fresh('r');
    const bool varies = one_in(6);
    line(piece, fmt::format("and.b32 {}, {}, 3;", t, varies ? "%i" : "%w"));
    line(piece, fmt::format("mov.u32 {}, 0;", counter));
    line(piece, start + ":");
    const unsigned unrolled = 1u << below(3);
    for (unsigned i = 0; i < unrolled; ++i) {
      const std::string value = fresh(array.element.letter);
      line(piece, fmt::format("ld.global.{} {}, [{}+{}];", array.element.type, value, pointer,
                              i * array.element.bytes));
      use(piece, array.element, value);
    }
    line(piece, fmt::format("add.s64 {0}, {0}, {1};", pointer, unrolled * array.element.bytes));
    if (one_in(3))
      statement(piece, depth + 1);
    piece.after.push_back(fmt::format("add.s32 {0}, {0}, 1;", counter));
    piece.after.push_back(fmt::format("setp.lt.s32 {}, {}, {};", p, counter, t));
    piece.after.push_back(fmt::format("@{} bra {};", p, start));
  }

  void branch(Piece &to, int depth) {
    Piece &piece = add(to);
    const std::string end = label(), p = condition(piece);
    line(piece, fmt::format("@{}{} bra {};", one_in(3) ? "!" : "", p, end));
    statement(piece, depth + 1);
    piece.after = {end + ":"};
  }

  void statement(Piece &to, int depth) {
    switch (depth > 1 ? 0 : below(12)) {
    case 0:
    case 1:
      return depth > 1 ? loads(to) : branch(to, depth);
    case 2:
      return loop(to, depth);
    case 3:
      return store(add(to), false);
    case 4:
      if (one_in(4)) {
        Piece &piece = add(to);
        const std::string p = condition(piece);
        return line(piece, fmt::format("@{} {};", p, one_in(2) ? "bra DONE" : "exit"));
      }
      [[fallthrough]];
    default:
      loads(to);
    }
  }

  WarpRandom random_, of_columns_;
  const bool with_loops_;
  std::vector<Array> arrays_;
  bool rows_ = false, planes_ = false, loops_along_y_ = false, loops_along_z_ = false;
  char row_axis_ = 'y';
  std::string pitch_;              ///< elements of a row
  unsigned first_[3] = {};         ///< where loops begin along each axis
  std::string wide_index_;         ///< of a loop along x by 64 bits
  std::vector<std::string> place_; ///< what gives a thread its elements
  unsigned own_ = 1;               ///< elements of a thread
  unsigned labels_ = 0;
  unsigned next_[128] = {};
};

} // namespace

RandomKernel random_wide_kernel(std::uint64_t seed, bool with_loops) {
  return WideGenerator(seed, with_loops).kernel();
}

std::string wide_module_text(const Piece &body) {
  const std::string code = lines_of(body);
  std::string text = fmt::format(".version 7.8\n.target sm_80\n.address_size 64\n"
                                 ".visible .entry random_kernel({})\n{}\n{{\n",
                                 body.before.front(), body.after.front());
  for (const auto &[letter, type] :
       {std::pair('r', "b32"), std::pair('d', "b64"), std::pair('h', "b16"), std::pair('f', "f32"),
        std::pair('g', "f64"), std::pair('p', "pred")})
    text += fmt::format("\t.reg .{} %{}<{}>;\n", type, letter, registers_named(code, letter));
  text += "\t.reg .b32 %n, %w, %acc, %i, %x, %y, %z;\n\t.reg .b64 %m;\n";
  return text + code + "DONE:\n\tret;\n}\n";
}

} // namespace ptxasw::test
