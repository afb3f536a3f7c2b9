// An outside program: 42 regions with a payload.
#include <adaptyst/adaptyst.hpp>
#include <adaptyst/collector.hpp>

struct tile {
  double bytes;
};

int main() {
  adaptyst::collector collector;
  for (int turn = 0; turn != 42; ++turn) {
    ADAPTYST_REGION("outside", tile{8});
  }
}
