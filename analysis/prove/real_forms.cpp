// Sums of products with rational coefficients, in one order: two expressions that are the same
// polynomial have the same form. Everything that is no sum, product, quotient or extremum is an
// atom, whose operands are forms.

#include "analysis/prove/real_forms.h"

#include "analysis/prove/not_followed.h"
#include "emulator/semantics/scramble.h"

#include <algorithm>
#include <cmath>
#include <fmt/core.h>

namespace ptxasw::analysis {
namespace {

using facts::Rational;

/// Terms of polynomials that are looked at, for all forms together.
constexpr std::size_t most_work = 12'000'000;
/// Terms of a product that is multiplied out.
constexpr std::size_t longest_product = 20'000;
/// Operations behind each other: what calls itself for each of them needs stack.
constexpr unsigned deepest_form = 4'500;

bool is_infinite(ScalarType type, Expr bits, bool negative) {
  if (bits->kind != ExprKind::constant)
    return false;
  const double number = floating::to_double(type, bits->value.low);
  return std::isinf(number) && std::signbit(number) == negative;
}

const char *name_of(FloatOperation operation) {
  switch (operation) {
  case FloatOperation::sqrt:
    return "sqrt";
  case FloatOperation::sin:
    return "sin";
  case FloatOperation::cos:
    return "cos";
  case FloatOperation::lg2:
    return "lg2";
  case FloatOperation::tanh:
    return "tanh";
  case FloatOperation::abs:
    return "abs";
  case FloatOperation::copysign:
    return "copysign";
  default:
    return nullptr;
  }
}

} // namespace

std::size_t RealForms::FormHash::operator()(const Form &form) const {
  std::uint64_t hash = form.terms().size();
  const auto mix = [&](std::uint64_t value) { hash = scramble(hash ^ value); };
  for (const auto &[monomial, coefficient] : form.terms()) {
    for (const facts::AtomId id : monomial)
      mix(id);
    mix(static_cast<std::uint64_t>(coefficient.numerator()));
    mix(static_cast<std::uint64_t>(coefficient.denominator()));
  }
  return hash;
}

void RealForms::spend(std::size_t work) {
  work_ += work;
  if (work_ > most_work)
    throw NotFollowed{"its sums and products are too many"};
}

std::uint32_t RealForms::number_of(const Form &form) {
  spend(form.terms().size());
  const auto [entry, is_new] =
      numbers_.try_emplace(form, static_cast<std::uint32_t>(by_number_.size()));
  if (is_new)
    by_number_.push_back(&entry->first);
  return entry->second;
}

RealForms::Form RealForms::atom(Atom atom) {
  const auto [entry, is_new] =
      atom_ids_.try_emplace(atom, static_cast<facts::AtomId>(atoms_.size()));
  if (is_new)
    atoms_.push_back(std::move(atom));
  return Form::of(entry->second);
}

RealForms::Form RealForms::opaque(std::string name, const std::vector<const Form *> &arguments) {
  Atom result{Atom::Kind::function, nullptr, ScalarType::none, std::move(name), {}};
  for (const Form *argument : arguments)
    result.arguments.push_back(number_of(*argument));
  return atom(std::move(result));
}

// A sum as one factor. Its first coefficient stays outside: multiples of a sum are multiples of one
// factor.
RealForms::Form RealForms::whole(const Form &a) {
  if (a.terms().size() < 2)
    return a;
  const Rational lead = a.terms().begin()->second;
  const Form scaled = a.with_coefficients([&](const Rational &c) { return Rational(c / lead); });
  return atom({Atom::Kind::sum, nullptr, ScalarType::none, {}, {number_of(scaled)}}) * Form(lead);
}

// Powers of two in one product become one.
RealForms::Form RealForms::times(const Form &a, const Form &b) {
  if (a.terms().size() * b.terms().size() > longest_product && a.terms().size() > 1 &&
      b.terms().size() > 1)
    return whole(a) * whole(b);
  spend(a.terms().size() * b.terms().size());
  Form product = a * b;
  const auto is_power = [&](facts::AtomId id) {
    return atoms_[id].kind == Atom::Kind::power_of_two;
  };
  const auto powers = [&](const Form::Monomial &monomial) {
    return std::count_if(monomial.begin(), monomial.end(), is_power);
  };
  if (std::none_of(product.terms().begin(), product.terms().end(),
                   [&](const auto &term) { return powers(term.first) > 1; }))
    return product;
  Form result;
  for (const auto &[monomial, coefficient] : product.terms()) {
    Form exponent, one(coefficient);
    const bool merges = powers(monomial) > 1;
    for (const facts::AtomId id : monomial)
      if (merges && is_power(id))
        exponent += *by_number_[atoms_[id].arguments[0]];
      else
        one = one * Form::of(id);
    if (merges && !exponent.is_zero())
      one = one *
            atom({Atom::Kind::power_of_two, nullptr, ScalarType::none, {}, {number_of(exponent)}});
    spend(one.terms().size() + exponent.terms().size());
    result += one;
  }
  return result;
}

RealForms::Form RealForms::inverse(const Form &a) {
  if (a.terms().size() != 1)
    return atom({Atom::Kind::inverse, nullptr, ScalarType::none, {}, {number_of(a)}});
  // A product: of each factor by itself.
  const auto &[monomial, coefficient] = *a.terms().begin();
  Form result{Rational(1 / coefficient)};
  for (const facts::AtomId id : monomial) {
    Form one;
    if (atoms_[id].kind == Atom::Kind::power_of_two)
      one = atom({Atom::Kind::power_of_two,
                  nullptr,
                  ScalarType::none,
                  {},
                  {number_of(Form() - *by_number_[atoms_[id].arguments[0]])}});
    else
      one = atom({Atom::Kind::inverse, nullptr, ScalarType::none, {}, {number_of(Form::of(id))}});
    result = times(result, one);
  }
  return result;
}

RealForms::Form RealForms::extremum(Atom::Kind kind, ScalarType type,
                                    std::vector<const Form *> operands) {
  Atom result{kind, nullptr, ScalarType::none, {}, {}};
  for (const Form *operand : operands) {
    const auto single = operand->atom();
    const Atom *const inner = single ? &atoms_[*single] : nullptr;
    if (inner && inner->kind == kind)
      result.arguments.insert(result.arguments.end(), inner->arguments.begin(),
                              inner->arguments.end());
    else if (!inner || inner->kind != Atom::Kind::bits || inner->type != type ||
             !is_infinite(type, inner->bits, kind == Atom::Kind::greatest))
      result.arguments.push_back(number_of(*operand)); // infinity of that side changes nothing
  }
  std::sort(result.arguments.begin(), result.arguments.end());
  result.arguments.erase(std::unique(result.arguments.begin(), result.arguments.end()),
                         result.arguments.end());
  if (result.arguments.empty())
    return *operands[0];
  return result.arguments.size() == 1 ? *by_number_[result.arguments[0]] : atom(std::move(result));
}

// Of two, or of a product and a third.
bool RealForms::is_sum(Expr expr, ScalarType type) {
  const FloatFunction *const f = terms_.function(expr);
  return f && f->kind == FloatFunction::Kind::arithmetic && f->form.form.type == type &&
         (f->operation == FloatOperation::add || f->operation == FloatOperation::sub ||
          f->operation == FloatOperation::fma) &&
         !f->form.mode.saturate && !f->form.mode.relu && !rounds_on_purpose(expr, *f);
}

bool RealForms::rounds_on_purpose(Expr expr, const FloatFunction &f) {
  const FloatMode &mode = f.form.mode;
  if (mode.integral || mode.rounding != FloatRounding::nearest_even)
    return true;
  if (f.kind != FloatFunction::Kind::arithmetic ||
      (f.operation != FloatOperation::add && f.operation != FloatOperation::sub &&
       f.operation != FloatOperation::fma))
    return false;
  const ScalarType type = f.form.form.type;
  const double large = type == ScalarType::f64 ? 0x1p51 : type == ScalarType::f32 ? 0x1p22 : 0x1p7;
  // The factors of a fused sum do not count: only what is added to something.
  const std::span<const Expr> added =
      f.operation == FloatOperation::fma ? expr->operands().subspan(2) : expr->operands();
  return std::any_of(added.begin(), added.end(), [&](Expr operand) {
    return operand->kind == ExprKind::constant &&
           std::abs(floating::to_double(type, operand->value.low)) >= large;
  });
}

// What a function that is no sum gives, its operands being real numbers.
RealForms::Form RealForms::operation(Expr expr, const FloatFunction &f) {
  const ScalarType type = f.form.form.type;
  const FloatMode &mode = f.form.mode;
  const std::string name(terms_.function_name(expr));
  if (f.kind == FloatFunction::Kind::conversion) {
    const ScalarType from = f.form.form.source_type;
    const Expr source = expr->children[0];
    if (!is_float(from)) {
      if (source->kind == ExprKind::constant)
        return Form(f.form.form.source_signed
                        ? Rational(as_signed(source->value.low, source->width))
                        : Rational(source->value.low));
      return atom({Atom::Kind::bits, canonical(source), from, {}, {}});
    }
    const Form &x = form(source, from);
    return !is_real_type(from) || mode.saturate || mode.relu || rounds_on_purpose(expr, f)
               ? opaque(name, {&x})
               : x;
  }
  std::vector<const Form *> x;
  for (const Expr operand : expr->operands())
    x.push_back(&form(operand, type));
  // Which of two factors or terms comes first says nothing.
  if ((f.operation == FloatOperation::add || f.operation == FloatOperation::mul ||
       f.operation == FloatOperation::fma) &&
      number_of(*x[1]) < number_of(*x[0]))
    std::swap(x[0], x[1]);
  if (mode.saturate || mode.relu || mode.absolute || rounds_on_purpose(expr, f))
    return opaque(name, x);
  switch (f.operation) {
  case FloatOperation::neg:
    return Form() - *x[0];
  case FloatOperation::mul:
    return times(*x[0], *x[1]);
  case FloatOperation::div:
    return x[1]->is_zero() ? opaque(name, x) : times(*x[0], inverse(*x[1]));
  case FloatOperation::rcp:
    return x[0]->is_zero() ? opaque(name, x) : inverse(*x[0]);
  case FloatOperation::rsqrt:
    return inverse(opaque("sqrt", {x[0]}));
  case FloatOperation::ex2:
    return x[0]->is_zero()
               ? Form(1)
               : atom(
                     {Atom::Kind::power_of_two, nullptr, ScalarType::none, {}, {number_of(*x[0])}});
  case FloatOperation::min:
    return extremum(Atom::Kind::least, type, x);
  case FloatOperation::max:
    return extremum(Atom::Kind::greatest, type, x);
  default: {
    const char *const known = name_of(f.operation);
    return opaque(known ? known : name, x);
  }
  }
}

// Sums are taken apart on the way down, so that a long one is not copied at each step.
void RealForms::add(Expr expr, ScalarType type, const Rational &factor, Form &to) {
  const FloatFunction *const f = terms_.function(expr);
  const auto known = forms_.find({expr->id, type});
  const auto add_scaled = [&](const Form &form) {
    spend(form.terms().size());
    to += factor == 1 ? form : form * Form(factor);
  };
  if (known != forms_.end())
    return add_scaled(known->second);
  if (!is_sum(expr, type))
    return add_scaled(form(expr, type));
  if (f->operation == FloatOperation::fma) {
    add_scaled(times(form(expr->children[0], type), form(expr->children[1], type)));
    return add(expr->children[2], type, factor, to);
  }
  spend(1);
  add(expr->children[0], type, factor, to);
  add(expr->children[1], type, f->operation == FloatOperation::sub ? Rational(-factor) : factor,
      to);
}

const RealForms::Form &RealForms::form(Expr expr, ScalarType type) {
  const auto key = std::make_pair(expr->id, type);
  if (const auto known = forms_.find(key); known != forms_.end())
    return known->second;
  if (expr->depth > deepest_form)
    throw NotFollowed{"too many operations follow each other"};
  Form result;
  const FloatFunction *const f = terms_.function(expr);
  const bool is_value = f && (f->kind == FloatFunction::Kind::arithmetic ||
                              f->kind == FloatFunction::Kind::conversion);
  const auto number = expr->kind == ExprKind::constant && is_real_type(type)
                          ? rational_of(type, expr->value.low)
                          : std::nullopt;
  if (number) {
    result = Form(*number);
  } else if (is_value && f->form.form.type == type && is_real_type(type)) {
    if (is_sum(expr, type))
      add(expr, type, Rational(1), result);
    else
      result = operation(expr, *f);
  } else if (expr->kind == ExprKind::ite) {
    const Form &yes = form(expr->children[1], type), &no = form(expr->children[2], type);
    result = yes == no ? yes
                       : atom({Atom::Kind::choice,
                               canonical(expr->children[0]),
                               type,
                               {},
                               {number_of(yes), number_of(no)}});
  } else {
    result = atom({Atom::Kind::bits, canonical(expr), type, {}, {}});
  }
  return forms_.emplace(key, std::move(result)).first->second;
}

Expr RealForms::bits_of(const Form &form, ScalarType type) {
  if (const auto single = form.atom();
      single && atoms_[*single].kind == Atom::Kind::bits && atoms_[*single].type == type)
    return atoms_[*single].bits;
  const unsigned width = bit_width(type);
  if (const auto number = form.number()) {
    const std::uint64_t bits =
        floating::from_double(type, static_cast<double>(*number), FloatRounding::nearest_even);
    if (rational_of(type, bits) == *number)
      return terms_.constant(width, {bits});
  }
  Expr &symbol = symbols_[{number_of(form), type}];
  if (!symbol)
    symbol = terms_.symbol(fmt::format("real{}", symbols_.size()), width);
  return symbol;
}

Expr RealForms::canonical(Expr expr) {
  if (expr->kind == ExprKind::constant || expr->kind == ExprKind::symbol)
    return expr;
  if (const auto known = canonical_.find(expr); known != canonical_.end())
    return known->second;
  if (expr->depth > deepest_form)
    throw NotFollowed{"too many operations follow each other"};
  spend(1);
  const FloatFunction *const f = terms_.function(expr);
  Expr result = nullptr;
  if (f &&
      (f->kind == FloatFunction::Kind::arithmetic || f->kind == FloatFunction::Kind::conversion) &&
      is_real_type(f->form.form.type)) {
    result = bits_of(form(expr, f->form.form.type), f->form.form.type);
  } else {
    std::vector<Expr> children;
    for (std::uint32_t i = 0; i < expr->child_count; ++i) {
      const Expr child = expr->children[i];
      // What a comparison or a conversion reads as a real number is one, whatever it was made by.
      const ScalarType read =
          !f ? ScalarType::none
          : f->kind == FloatFunction::Kind::comparison || f->kind == FloatFunction::Kind::conversion
              ? f->form.form.source_type == ScalarType::none ? f->form.form.type
                                                             : f->form.form.source_type
              : f->form.form.type;
      children.push_back(is_real_type(read) && child->width == bit_width(read)
                             ? bits_of(form(child, read), read)
                             : canonical(child));
    }
    result = terms_.rebuild(expr, children);
  }
  return canonical_.emplace(expr, result).first->second;
}

} // namespace ptxasw::analysis
