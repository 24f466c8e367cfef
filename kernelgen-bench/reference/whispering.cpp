#include "reference/problem.h"

namespace kernelgen {
namespace {

void whispering(Problem &p) {
  const Field ca = p.field("ca"), cb = p.field("cb"), da = p.field("da"), db = p.field("db");
  const Field u_em0 = p.field("u_em0"), u_em1 = p.field("u_em1");
  const Field e = p.field("e"), e_new = p.field("e_new"), h0 = p.field("h0"), h1 = p.field("h1");
  p.interior(1, 1, 0, [&](int x, int y, int) {
    const auto electric_x = [&](int i, int j) {
      return ca(i, j) * e(i, j, 0) + cb(i, j) * (h0(i, j + 1) - h0(i, j));
    };
    const auto electric_y = [&](int i, int j) {
      return ca(i, j) * e(i, j, 1) - cb(i, j) * (h0(i + 1, j) - h0(i, j));
    };
    const double e0 = electric_x(x, y), ey = electric_x(x, y - 1);
    const double e1 = electric_y(x, y), ex = electric_y(x - 1, y);
    const double h = da(x, y) * h0(x, y) + db(x, y) * (e0 - ey + ex - e1);
    e_new(x, y, 0) = e0;
    e_new(x, y, 1) = e1;
    h1(x, y) = h;
    u_em1(x, y) = u_em0(x, y) + (h * h / p["mu"] + p["eps"] * (e0 * e0 + e1 * e1)) / 2;
  });
}

const Registered entry("whispering", whispering);

} // namespace
} // namespace kernelgen
