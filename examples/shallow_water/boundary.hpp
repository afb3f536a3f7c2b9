// Fills halo cells with what lies beyond the edge of the basin: its mirror image at a wall, the opposite edge if the
// basin is periodic.
#ifndef SHALLOW_WATER_BOUNDARY_HPP
#define SHALLOW_WATER_BOUNDARY_HPP

#include "grid.hpp"

namespace shallow_water {

enum class boundary { wall, periodic };

// The halo columns of some rows.
void fill_sides(field& field, row_range rows, boundary kind);

// The halo rows below and above the basin's `rows` rows, after fill_sides().
void fill_ends(field& field, int rows, boundary kind);

}  // namespace shallow_water

#endif
