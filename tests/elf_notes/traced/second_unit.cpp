#include "units.hpp"

void second_unit() {
  ADAPTYST_REGION("second unit");
  in_all_units();
  in_template<2>();
  ADAPTYST_REGION_BEGIN("handle").end();
}
