// Writes messages of simulated ranks, for rank_message, into a directory: written_messages DIRECTORY.
#include <fstream>
#include <string>

#include "merge/details.hpp"
#include "merge/message.hpp"
#include "samples.hpp"
#include "simulated_ranks.hpp"

namespace lib = adaptyst::lib;

int main(int count, char* arguments[]) {
  if (count != 2) return 2;
  unsigned number = 0;
  const auto write = [&](char kind, const std::string& message) {
    std::ofstream out(std::string(arguments[1]) + "/" + std::to_string(number++), std::ios::binary);
    out << kind << message;
    return out.flush().good();
  };
  bool good = true;
  std::string all;
  for (std::uint32_t rank = 3; rank != 9; ++rank) {
    const std::string message = lib::write_message(
        simulated::make_profile(rank), adaptyst::rank_place{rank, simulated::host_name(rank)}, lib::short_histograms);
    all = all.empty() ? message : lib::merge_messages(all, message);
    good = good && write('\0', message) && write('\0', all);
  }
  for (std::uint64_t seed = 0; seed != 4; ++seed)
    good = good && write('\0', lib::write_message(samples::generator(seed).profile(), std::nullopt));
  lib::details_plan plan = lib::make_plan(lib::read_message(all), lib::short_histograms);
  good = good && write('\2', plan.message());
  plan.rows.resize(2);
  lib::rank_details details(plan);
  for (std::uint32_t rank = 3; rank != 9; ++rank) {
    details.add(simulated::make_profile(rank), adaptyst::rank_place{rank, simulated::host_name(rank)});
    good = good && write('\1', details.message());
  }
  return good ? 0 : 1;
}
