// Times a writer of profiles, in ms: 5,000 made-up regions, up to ten levels deep.
#include <ctime>

#include <adaptyst/profile.hpp>
#include <cstdio>
#include <string>
#include <vector>

#include "measure.hpp"
#include "report/foreign_forms.hpp"

namespace {

adaptyst::profile make_profile() {
  constexpr std::uint64_t rows = 5000, levels = 10;
  adaptyst::profile made;
  made.devices.resize(1);
  for (std::uint64_t number = 0; number != rows; ++number) {
    adaptyst::region row;
    if (number % levels != 0) row.path = made.regions.back().path;
    row.path.push_back("region number " + std::to_string(number));
    row.id = number + 1;
    row.parent = number % levels != 0 ? number : 0;
    row.site = {"src/solver/file" + std::to_string(number % 97) + ".cpp", static_cast<std::uint32_t>(number), "f"};
    row.threads = 8;
    row.count = 1000 + number * 7919 % 100'000;
    row.durations.add(1'000'000, row.count);
    row.total_ns = row.count * 1'000'000;
    row.self_ns = row.total_ns / 3;
    row.self_context.emplace().wall_ns = row.self_ns;
    row.self_context->lock_ns = row.self_ns / 7;
    row.attributes["bytes"] = {row.count, static_cast<double>(row.count) * 4096, 4096, 4096};
    made.regions.push_back(std::move(row));
  }
  return made;
}

double cpu_ms() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) / 1e6;
}

}  // namespace

int main() {
  const adaptyst::profile profile = make_profile();
  std::vector<double> took;
  std::size_t bytes = 0;
  for (int round = 0; round != 5; ++round) {
    const double begin = cpu_ms();
    bytes = adaptyst::lib::to_pprof(profile).size();
    took.push_back(cpu_ms() - begin);
  }
  std::printf("pprof_ms_5000_rows %g\n", bench::median(took));
  std::printf("pprof_bytes_5000_rows %zu\n", bytes);
}
