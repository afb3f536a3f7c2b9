/* Levels of ranges, as the library of ROCTX counts them while no tool of AMD is loaded. */
static _Thread_local int level = 0;

__attribute__((visibility("default"))) int roctxRangePushA(const char* message) {
  (void)message;
  return level++;
}

__attribute__((visibility("default"))) int roctxRangePop(void) { return level == 0 ? -1 : --level; }
