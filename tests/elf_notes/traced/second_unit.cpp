#include "units.hpp"

void second_unit() {
  ADAPTYST_REGION("second unit");
  in_all_units();
  in_template<2>();
  ADAPTYST_HANDLE_BEGIN("handle").end();
}
