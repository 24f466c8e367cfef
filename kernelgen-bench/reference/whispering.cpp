#include "reference/problem.h"

namespace kernelgen {
namespace {

/// The components of the electric field before and after the step, 0 and 1.
struct Electric {
  Field before[2], after[2];
};

void whispering(Problem &p, const Electric &e, double epsilon) {
  const Field ca = p.field("ca"), cb = p.field("cb"), da = p.field("da"), db = p.field("db");
  const Field u_em0 = p.field("u_em0"), u_em1 = p.field("u_em1");
  const Field h0 = p.field("h0"), h1 = p.field("h1");
  p.interior(1, 1, 0, [&](int x, int y, int) {
    const auto electric_x = [&](int i, int j) {
      return ca(i, j) * e.before[0](i, j) + cb(i, j) * (h0(i, j + 1) - h0(i, j));
    };
    const auto electric_y = [&](int i, int j) {
      return ca(i, j) * e.before[1](i, j) - cb(i, j) * (h0(i + 1, j) - h0(i, j));
    };
    const double e0 = electric_x(x, y), ey = electric_x(x, y - 1);
    const double e1 = electric_y(x, y), ex = electric_y(x - 1, y);
    const double h = da(x, y) * h0(x, y) + db(x, y) * (e0 - ey + ex - e1);
    e.after[0](x, y) = e0;
    e.after[1](x, y) = e1;
    h1(x, y) = h;
    u_em1(x, y) = u_em0(x, y) + (h * h / p["mu"] + epsilon * (e0 * e0 + e1 * e1)) / 2;
  });
}

const Registered entry("whispering", [](Problem &p) {
  whispering(p, {{p.field("e0_0"), p.field("e0_1")}, {p.field("e1_0"), p.field("e1_1")}},
             p["epsilon"]);
});

/// The plain version has both components in one buffer, the second a plane behind the first.
const Registered plain("plain/whispering", [](Problem &p) {
  whispering(p,
             {{p.field("e"), p.field("e").plane(1)}, {p.field("e_new"), p.field("e_new").plane(1)}},
             p["eps"]);
});

} // namespace
} // namespace kernelgen
