// Writes profiles of many kinds into a directory, a file each, for validate_json.py.
#include <adaptyst/profile.hpp>
#include <fstream>
#include <iostream>

#include "samples.hpp"

int main(int count, char* arguments[]) {
  if (count != 2) return 2;
  unsigned number = 0;
  const auto write = [&](const adaptyst::profile& profile) {
    std::ofstream out(std::string(arguments[1]) + "/" + std::to_string(number++) + ".json");
    out << adaptyst::to_json(profile);
    return out.flush().good();
  };
  bool good = write({}) && write(samples::nasty_profile());
  adaptyst::profile all;
  for (std::uint64_t seed = 0; seed != 30; ++seed) {
    const adaptyst::profile profile = samples::generator(seed).profile_with_stacks();
    adaptyst::merge(all, profile);
    good = good && write(profile);
  }
  return good && write(all) ? 0 : 1;
}
