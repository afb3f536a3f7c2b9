// A C++ exception that is caught below a function with probes.
namespace {

[[gnu::noinline]] int throws(int x) {
  if (x >= 0) throw x;
  return x;
}

}  // namespace

int passes_on(int x) { return throws(x) + 1; }

extern "C" int catches(int x);
int catches(int x) {
  try {
    return passes_on(x);
  } catch (int caught) {
    return caught;
  }
}
