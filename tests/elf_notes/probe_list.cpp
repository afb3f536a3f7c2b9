// Prints what the collector's reader of ELF files finds: name, offset, offset of the semaphore, fast point, arguments.
#include <exception>
#include <iostream>

#include "discover/elf_probes.hpp"

int main(int count, char* arguments[]) {
  if (count != 2) return 2;
  try {
    for (const adaptyst::lib::elf_probe& probe : adaptyst::lib::find_elf_markers(arguments[1]).probes)
      std::cout << probe.name << ' ' << probe.offset << ' ' << probe.semaphore_offset << ' ' << probe.has_fast_point
                << ' ' << probe.arguments << '\n';
  } catch (const std::exception& failed) {
    std::cerr << failed.what() << '\n';
    return 1;
  }
}
