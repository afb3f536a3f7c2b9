#include "shared.hpp"

void library() {
  ADAPTYST_REGION("library");
  shared_template(3);
  ADAPTYST_OFFLOAD("shared device", shared_gpu);
}

adaptyst::region_handle begun_in_library() { return ADAPTYST_HANDLE_BEGIN("begun in library"); }
