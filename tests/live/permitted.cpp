// Exits with 0 where a collector can use eBPF; else prints why not.
#include <adaptyst/collector.hpp>

int main() {
  const adaptyst::collector collector("engine=ebpf,report=none");
  return collector.error() == nullptr ? 0 : 1;
}
