#include "shared.hpp"

void other_unit() {
  ADAPTYST_REGION("other unit");
  shared_template(2);
}
