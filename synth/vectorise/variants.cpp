// The names of all wide variants, which settings and options offer: how many points along x and of
// another axis a thread does, how these are laid, and how many registers it may have.

#include "synth/vectorise/vectorise.h"

#include <fmt/core.h>

namespace ptxasw::inline synth {

using FormKind = RetileForm::Kind;

std::string wide_variant(const WideShape &shape) {
  const RetileForm &form = shape.form;
  std::string word = "wide";
  if (form.total() > 1)
    word += "-";
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

const std::vector<WideShape> &wide_shapes() {
  static const std::vector<WideShape> all = [] {
    std::vector<WideShape> list;
    const auto add = [&](FormKind kind, int axis, unsigned copies, unsigned along_x,
                         std::initializer_list<unsigned> limits) {
      for (const unsigned limit : limits)
        list.push_back({{kind, axis, copies, along_x, 0, true}, limit});
    };
    for (const int axis : {1, 2})
      for (const FormKind kind : {FormKind::rows, FormKind::neighbours}) {
        add(kind, axis, 2, 4, {0, 64});
        add(kind, axis, 4, 4, {128, 0});
        add(kind, axis, 2, 2, {0});
        add(kind, axis, 4, 2, {0, 64});
      }
    add(FormKind::apart, 0, 1, 4, {0});
    add(FormKind::apart, 0, 1, 2, {0});
    add(FormKind::apart, 0, 1, 8, {0});
    add(FormKind::apart, 0, 1, 16, {0});
    add(FormKind::apart, 0, 1, 1, {0});
    for (const int axis : {1, 2})
      for (const FormKind kind : {FormKind::rows, FormKind::neighbours})
        add(kind, axis, 4, 1, {0, 128});
    return list;
  }();
  return all;
}

const std::vector<std::string> &vectorise_variants() {
  static const std::vector<std::string> all = [] {
    std::vector<std::string> words;
    for (const WideShape &shape : wide_shapes())
      words.push_back(wide_variant(shape));
    return words;
  }();
  return all;
}

} // namespace ptxasw::synth
