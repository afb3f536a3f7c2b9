// A library with as little thread-local memory as one with markers.
extern "C" long* thread_memory() {
  static thread_local long own = 0;
  return &own;
}
