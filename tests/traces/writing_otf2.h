// For test programs that write an OTF2 archive.
#ifndef ADAPTYST_TESTS_TRACES_WRITING_OTF2_H
#define ADAPTYST_TESTS_TRACES_WRITING_OTF2_H

#include <otf2/otf2.h>
#include <stdio.h>
#include <stdlib.h>

static void check(OTF2_ErrorCode code) {
  if (code == OTF2_SUCCESS) return;
  fprintf(stderr, "%s\n", OTF2_Error_GetDescription(code));
  exit(1);
}

static OTF2_FlushType flush_always(void* data, OTF2_FileType type, OTF2_LocationRef location, void* caller,
                                   bool is_last) {
  (void)data, (void)type, (void)location, (void)caller, (void)is_last;
  return OTF2_FLUSH;
}

#endif
