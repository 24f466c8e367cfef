// The hyperbolic term in plain sums: fluxes through the faces of an axis, eighth order.
#include "reference/problem.h"

namespace kernelgen {
namespace {

/// Sets the fluxes to (`first`), or lessens them by, the differences along an axis: 0, 1, 2 for x,
/// y, z.
void hypterm(Problem &p, int axis, bool first) {
  const std::string number = std::to_string(axis + 1);
  const Field velocity = p.field("q_" + number), pressure = p.field("q_4");
  const double scale = p[std::string("d") + "xyz"[axis] + "inv"];
  const double weights[] = {0.8, -0.2, 4.0 / 105, -1.0 / 280};
  for (int quantity = 0; quantity < 5; quantity++) {
    const Field flux = p.field("flux_" + std::to_string(quantity));
    const Field carried = p.field("cons_" + std::to_string(quantity ? quantity : axis + 1));
    p.interior(4, 4, 4, [&](int i, int j, int k) {
      // Density is carried by the momentum, the others by the velocity; the axis's own momentum has
      // the pressure on top, and the energy has it carried along.
      const auto at = [&](int n) {
        const int x = i + n * (axis == 0), y = j + n * (axis == 1), z = k + n * (axis == 2);
        if (quantity == 0)
          return carried(x, y, z);
        if (quantity == 4)
          return (carried(x, y, z) + pressure(x, y, z)) * velocity(x, y, z);
        return carried(x, y, z) * velocity(x, y, z) +
               (quantity == axis + 1 ? pressure(x, y, z) : 0);
      };
      double difference = 0;
      for (int n = 1; n <= 4; n++)
        difference += weights[n - 1] * (at(n) - at(-n));
      flux(i, j, k) = (first ? 0 : flux(i, j, k)) - difference * scale;
    });
  }
}

const Registered x("hypterm_x", [](Problem &p) { hypterm(p, 0, true); });
const Registered y("hypterm_y", [](Problem &p) { hypterm(p, 1, false); });
const Registered z("hypterm_z", [](Problem &p) { hypterm(p, 2, false); });

} // namespace
} // namespace kernelgen
