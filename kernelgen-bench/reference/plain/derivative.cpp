#include "reference/problem.h"

namespace kernelgen {
namespace {

/// Fourth-order first difference of f(n), n points along an axis.
template <class F> double first(const F &f) { return (f(-2) - f(2) + 8 * (f(1) - f(-1))) / 12; }

void derivative(Problem &p) {
  const Field mu = p.field("mu"), la = p.field("la");
  const Field met4 = p.field("met4"), jac = p.field("jac");
  for (int component = 1; component <= 3; component++) {
    const std::string number = std::to_string(component);
    const Field u = p.field(std::string("u") + number), lu = p.field(std::string("lu") + number);
    const Field met = p.field(std::string("met") + number);
    p.interior(2, 2, 2, [&](int i, int j, int k) {
      const double xy = first([&](int n) {
        return mu(i + n, j, k) * first([&](int m) { return u(i + n, j + m, k); });
      });
      const double xz = first([&](int n) {
        return la(i + n, j, k) * first([&](int m) { return u(i + n, j, k + m); });
      });
      const double zy = first([&](int n) {
        return met(i, j, k + n) * first([&](int m) { return u(i, j + m, k + n); });
      });
      lu(i, j, k) = jac(i, j, k) * (xy + xz) + met4(i, j, k) * zy;
    });
  }
}

const Registered entry("plain/derivative", derivative);

} // namespace
} // namespace kernelgen
