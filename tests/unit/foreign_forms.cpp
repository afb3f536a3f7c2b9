// Forms of other tools: what tests/tools/foreign_forms.py does not see, because a command writes one profile only.
#include "report/foreign_forms.hpp"

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "catch.hpp"
#include "report/forms.hpp"

using adaptyst::lib::max_metrics_regions;
using adaptyst::lib::metrics_regions;
using adaptyst::lib::metrics_syntax;
using adaptyst::lib::to_metrics;

namespace {

adaptyst::profile with_regions(std::size_t number) {
  adaptyst::profile made;
  made.devices.resize(1);
  made.devices.front().kind = adaptyst::device_kind::cpu;
  for (std::size_t at = 0; at != number; ++at) {
    adaptyst::region row;
    row.path = {"r" + std::to_string(at)};
    row.id = at + 1;
    row.count = 1;
    row.total_ns = row.self_ns = 1'000'000 + number - at;  // the last is the smallest
    row.durations.add(row.total_ns);
    made.regions.push_back(row);
  }
  return made;
}

std::string find_line(const std::string& text, const std::string& begin) {
  const std::size_t at = text.find("\n" + begin);
  return at == std::string::npos ? "" : text.substr(at + 1, text.find('\n', at + 1) - at - 1);
}

}  // namespace

TEST_CASE("a region with its own series keeps it, and the sum of the others never shrinks") {
  adaptyst::profile profile = with_regions(max_metrics_regions + 2);
  metrics_regions listed;
  const std::string others = "adaptyst_region_calls_total{region=\"(others)\",id=\"\",kind=\"\",device=\"\"} ";
  std::string text = to_metrics(profile, metrics_syntax::text, listed);
  CHECK(find_line(text, others) == others + "2");
  CHECK(listed.size() == max_metrics_regions);
  adaptyst::region& last = profile.regions.back();
  last.total_ns = last.self_ns = 1'000'000'000'000;
  last.count = 1000;
  text = to_metrics(profile, metrics_syntax::text, listed);
  CHECK(find_line(text, others) == others + "1001");
  CHECK(text.find("region=\"r0\"") != std::string::npos);
}

TEST_CASE("a file of metrics that is written again keeps its series") {
  const std::filesystem::path file =
      std::filesystem::temp_directory_path() / ("adaptyst-metrics-" + std::to_string(getpid()) + ".prom");
  const auto write = [&](const adaptyst::profile& what, metrics_regions* listed) {
    adaptyst::lib::write_profile_as(adaptyst::output_form::prometheus, file.string(), what, {}, listed);
    std::ifstream in(file);
    return std::string(std::istreambuf_iterator<char>(in), {});
  };
  adaptyst::profile profile = with_regions(max_metrics_regions + 2);
  metrics_regions listed;
  const std::string others = "adaptyst_region_calls_total{region=\"(others)\",id=\"\",kind=\"\",device=\"\"} ";
  CHECK(find_line(write(profile, &listed), others) == others + "2");
  adaptyst::region& last = profile.regions.back();
  last.total_ns = last.self_ns = 1'000'000'000'000;
  last.count = 1000;
  std::string text = write(profile, &listed);
  CHECK(find_line(text, others) == others + "1001");
  CHECK(text.find("region=\"r199\"") != std::string::npos);
  text = write(profile, nullptr);
  CHECK(find_line(text, others) == others + "2");
  std::filesystem::remove(file);
}

TEST_CASE("a label of metrics has a limited length") {
  adaptyst::profile profile = with_regions(1);
  profile.regions.front().path = {std::string(10'000, 'x')};
  metrics_regions listed;
  const std::string text = to_metrics(profile, metrics_syntax::text, listed);
  CHECK(text.find("region=\"" + std::string(500, 'x') + "\"") != std::string::npos);
}

TEST_CASE("rows with one id and one name become one series") {
  adaptyst::profile profile = with_regions(3);
  profile.regions[1].id = profile.regions[0].id;
  profile.regions[1].path = profile.regions[0].path;
  metrics_regions listed;
  const std::string text = to_metrics(profile, metrics_syntax::open_metrics, listed);
  CHECK(find_line(text, "adaptyst_regions_summed ") == "adaptyst_regions_summed 1");
  CHECK(text.substr(text.size() - 6) == "# EOF\n");
}

TEST_CASE("a duration on a limit counts up to this limit, and a longer one does not") {
  adaptyst::profile profile = with_regions(1);
  adaptyst::region& row = profile.regions.front();
  row.durations = {};
  row.durations.add(999);
  row.durations.add(1'000'000'000'000'000'000);
  metrics_regions listed;
  const std::string text = to_metrics(profile, metrics_syntax::text, listed);
  const auto bucket = [&](const char* limit) {
    const std::string line =
        find_line(text,
                  "adaptyst_region_duration_seconds_bucket{region=\"r0\",id=\"0000000000000001\",kind=\"region\","
                  "device=\"host\",le=\"" +
                      std::string(limit) + "\"}");
    return line.substr(line.rfind(' ') + 1);
  };
  CHECK(bucket("1e-06") == "0");  // its bucket ends above the limit
  CHECK(bucket("1e-05") == "1");
  CHECK(bucket("100.0") == "1");
  CHECK(bucket("+Inf") == "2");
}

TEST_CASE("an empty profile has every form") {
  const adaptyst::profile none;
  metrics_regions listed;
  CHECK(to_metrics(none, metrics_syntax::text, listed).find("adaptyst_regions 0\n") != std::string::npos);
  CHECK(adaptyst::lib::to_pprof(none).substr(0, 2) == "\x1f\x8b");
  CHECK(adaptyst::lib::to_caliper(none).find("__rec=globals") != std::string::npos);
  CHECK(adaptyst::lib::to_talp(none).find("\"Global\": {}") != std::string::npos);
}

TEST_CASE("parents in a circle end with the path") {
  adaptyst::profile profile = with_regions(2);
  profile.regions[0].path = {"a", "b"};
  profile.regions[0].parent = 2;
  profile.regions[1].path = {"a"};
  profile.regions[1].parent = 1;
  CHECK_FALSE(adaptyst::lib::to_pprof(profile).empty());
  CHECK(adaptyst::lib::to_caliper(profile).find("data=b") != std::string::npos);
}
