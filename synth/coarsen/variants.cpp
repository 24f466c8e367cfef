// The names of all forms, which settings and options offer: an axis, a number of blocks or threads,
// how they are laid, points along x, and how many registers a thread may have. Along x there are no
// rows, and neighbours share nothing.

#include "synth/coarsen/coarsen.h"

#include <fmt/core.h>

namespace ptxasw::synth {

using FormKind = CoarsenForm::Kind;

std::string_view name_of(FormKind kind) {
  return kind == FormKind::apart ? "apart" : kind == FormKind::rows ? "rows" : "neighbours";
}

std::string coarsen_variant(const CoarsenShape &shape) {
  const CoarsenForm &form = shape.form;
  std::string word = !form.wide ? "" : form.total() > 1 ? "wide-" : "wide";
  if (form.along_x > 1)
    word += fmt::format("x{}", form.along_x);
  if (form.copies > 1)
    word += fmt::format("{}{}", "xyz"[form.axis], form.copies);
  if (form.copies > 1 && form.kind != FormKind::apart)
    word += fmt::format("-{}", name_of(form.kind));
  if (shape.registers != 0)
    word += fmt::format("-r{}", shape.registers);
  return word;
}

const std::vector<CoarsenShape> &coarsen_shapes() {
  static const std::vector<CoarsenShape> all = [] {
    std::vector<CoarsenShape> list;
    const auto add = [&](FormKind kind, int axis, unsigned copies, unsigned limit) {
      list.push_back({{kind, axis, copies}, limit});
    };
    const auto add_wide = [&](FormKind kind, int axis, unsigned copies, unsigned along_x,
                              std::initializer_list<unsigned> limits) {
      for (const unsigned limit : limits)
        list.push_back({{kind, axis, copies, along_x, 0, true}, limit});
    };
    // Limits have shown to be worth having where copies share loads and, for few copies, along y
    // and z.
    constexpr std::pair<unsigned, unsigned> sizes[] = {{4, 64}, {2, 64}, {4, 0},  {2, 0},
                                                       {8, 64}, {8, 0},  {4, 128}};
    for (const auto &[copies, limit] : sizes) {
      for (const FormKind kind : {FormKind::rows, FormKind::neighbours})
        for (const int axis : {1, 2})
          add(kind, axis, copies, limit);
      for (const int axis : {0, 1, 2})
        if (limit == 0 || (axis > 0 && copies <= 4 && limit == 64))
          add(FormKind::apart, axis, copies, limit);
    }
    // Streams of bytes; of rows and planes so many take all registers.
    add(FormKind::apart, 0, 16, 0);
    for (const int axis : {1, 2})
      for (const FormKind kind : {FormKind::rows, FormKind::neighbours}) {
        add_wide(kind, axis, 2, 4, {0, 64});
        add_wide(kind, axis, 4, 4, {128, 0});
        add_wide(kind, axis, 2, 2, {0});
        add_wide(kind, axis, 4, 2, {0, 64});
      }
    for (const unsigned along_x : {4, 2, 8, 16, 1})
      add_wide(FormKind::apart, 0, 1, along_x, {0});
    for (const int axis : {1, 2})
      for (const FormKind kind : {FormKind::rows, FormKind::neighbours})
        add_wide(kind, axis, 4, 1, {0, 128});
    return list;
  }();
  return all;
}

} // namespace ptxasw::synth
