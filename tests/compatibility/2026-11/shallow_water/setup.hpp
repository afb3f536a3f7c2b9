// What to simulate: the basin, the water in it, and for how long. Lengths in metres, times in seconds.
#ifndef SHALLOW_WATER_SETUP_HPP
#define SHALLOW_WATER_SETUP_HPP

#include <vector>

#include "boundary.hpp"

namespace shallow_water {

// Within this rectangle the water is this deep.
struct box {
  double x0, y0, x1, y1, depth;
};

// A Gaussian of this width (standard deviation) and height, added to the depth.
struct hump {
  double x, y, width, height;
};

struct setup {
  int columns = 0, rows = 0;  // cells along x and y
  double width = 0, height = 0;
  double end_time = 0;
  double gravity = 9.81;
  double cfl = 0.45;  // at most 0.5: up to there the depth stays positive
  boundary edges = boundary::wall;
  // The water at time 0: this depth, then the boxes in their order, then the humps; all moving alike.
  double depth = 0;
  std::vector<box> boxes;
  std::vector<hump> humps;
  double x_velocity = 0, y_velocity = 0;

  double dx() const { return width / columns; }
  double dy() const { return height / rows; }
};

}  // namespace shallow_water

#endif
