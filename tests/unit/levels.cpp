// Levels: which marker has which, means of repeated runs, and what compute_levels() makes of runs made by hand.
#include <adaptyst/options.hpp>
#include <algorithm>
#include <cmath>
#include <cstring>
#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <vector>

#include "analyse/levels/executed_layers.hpp"
#include "analyse/levels/fields.hpp"
#include "analyse/levels/levels.hpp"
#include "analyse/levels/stack.hpp"
#include "catch.hpp"
#include "report/forms.hpp"
#include "support/levels.hpp"

namespace {

using adaptyst::profile;
using adaptyst::region;
using namespace adaptyst::lib;

bool fits(std::string_view pattern, std::string_view name) {
  return adaptyst::detail::fits_pattern({pattern.data(), pattern.size()}, {name.data(), name.size()});
}

// By trying all ways to share the name among the stars.
bool fits_by_search(std::string_view pattern, std::string_view name) {
  if (pattern.empty()) return name.empty();
  if (pattern[0] == '*')
    return fits_by_search(pattern.substr(1), name) || (!name.empty() && fits_by_search(pattern, name.substr(1)));
  return !name.empty() && (pattern[0] == '?' || pattern[0] == name[0]) &&
         fits_by_search(pattern.substr(1), name.substr(1));
}

TEST_CASE("patterns fit as a search through all ways says") {
  CHECK(fits("MPI_*", "MPI_Send"));
  CHECK_FALSE(fits("MPI_*", "PMPI_Send"));
  CHECK(fits("*", ""));
  CHECK_FALSE(fits("?", ""));
  std::mt19937 random(7);
  const auto draw = [&](std::string_view letters, std::size_t max_letters) {
    std::string made(random() % (max_letters + 1), ' ');
    for (char& letter : made) letter = letters[random() % letters.size()];
    return made;
  };
  for (int at = 0; at != 20'000; ++at) {
    const std::string pattern = draw("ab*?", 7), name = draw("ab", 8);
    INFO(pattern << " " << name);
    REQUIRE(fits(pattern, name) == fits_by_search(pattern, name));
  }
}

TEST_CASE("a marker has the level of the first rule that fits its name, else that of its kind") {
  const auto rules = make_level_settings(0, {"step=model", "st*=layer", "MPI_Wait=6"});
  CHECK(find_level(rules, "step", "", ADAPTYST_SITE_REGION) == level::model);
  CHECK(find_level(rules, "stop", "", ADAPTYST_SITE_KERNEL) == level::layer);
  CHECK(find_level(rules, "MPI_Wait", "", ADAPTYST_SITE_REGION) == level::hardware);
  CHECK(find_level(rules, "MPI_Send", "", ADAPTYST_SITE_REGION) == level::library);
  CHECK(find_level(rules, "MPI", "", ADAPTYST_SITE_REGION) == level::application);
  CHECK(find_level(rules, "any", "", ADAPTYST_SITE_KERNEL) == level::device);
  CHECK(find_level(rules, "any", "", ADAPTYST_SITE_OTHER) == level::device);
  CHECK(find_level(rules, "any", "", ADAPTYST_SITE_FUNCTION) == level::library);
  // Of the function that it stands in, by which the adapter of torch says what calls what.
  CHECK(find_level(rules, "aten::add", "torch operator", ADAPTYST_SITE_REGION) == level::layer);
  CHECK(find_level(rules, "aten::add", "torch operator within another", ADAPTYST_SITE_REGION) == level::library);
  CHECK(find_level(rules, "any", "torch scope", ADAPTYST_SITE_REGION) == level::model);
  CHECK(find_level(rules, "@torch scope", "", ADAPTYST_SITE_REGION) == level::application);
  const auto by_function = make_level_settings(0, {"@solve*=layer", "any=model"});
  CHECK(find_level(by_function, "any", "other", ADAPTYST_SITE_REGION) == level::model);
  CHECK(find_level(by_function, "any", "solve_all", ADAPTYST_SITE_REGION) == level::layer);
}

TEST_CASE("what a marker says itself comes behind the rules that were asked for, and before all else") {
  const auto rules = make_level_settings(0, {"step=model"});
  CHECK(find_level(rules, "step", "", ADAPTYST_SITE_REGION, level::device) == level::model);
  CHECK(find_level(rules, "any", "", ADAPTYST_SITE_REGION, level::layer) == level::layer);
  CHECK(find_level(rules, "MPI_Send", "", ADAPTYST_SITE_REGION, level::application) == level::application);
  CHECK(find_level(rules, "any", "torch operator", ADAPTYST_SITE_REGION, level::model) == level::model);
  CHECK(find_level(rules, "any", "", ADAPTYST_SITE_KERNEL, level::library) == level::library);
  CHECK(find_level({}, "any", "", ADAPTYST_SITE_REGION, level::library) == level::library);
}

TEST_CASE("rules of any bytes are read no farther than they reach") {
  adaptyst::detail::level_settings rules;
  std::memset(&rules, 1, sizeof rules);  // one pattern that never ends
  CHECK(find_level(rules, "a", "", ADAPTYST_SITE_REGION) == level::application);
  std::memset(&rules, '*', sizeof rules);
  CHECK(static_cast<unsigned>(find_level(rules, "a", "", ADAPTYST_SITE_REGION)) == unsigned{'*'});
  const std::vector<std::string> many(500, "a_name_of_some_length_that_fits_nothing=layer");
  CHECK_FALSE(fits_rules(many, {}));
  CHECK(find_level(make_level_settings(1, many), "a", "", ADAPTYST_SITE_REGION) == level::application);
}

TEST_CASE("markers that are to be left out are deeper than any level, whatever else is asked for") {
  using adaptyst::detail::is_too_deep;
  const auto leaves_out = [](const adaptyst::detail::level_settings& rules, std::string_view name,
                             std::uint32_t own = 0) {
    return is_too_deep(rules, {{name.data(), name.size()}, {nullptr, 0}, ADAPTYST_SITE_REGION, own});
  };
  const auto rules = make_level_settings(0, {"MPI_Test=application"}, {"MPI_Test*", "poll"});
  CHECK((leaves_out(rules, "MPI_Test") && leaves_out(rules, "MPI_Testall") && leaves_out(rules, "poll", 1)));
  CHECK_FALSE((leaves_out(rules, "MPI_Wait") || leaves_out(rules, "polling") || leaves_out(rules, "any", 6)));
  const auto with_level = make_level_settings(1, {}, {"poll"});
  CHECK((leaves_out(with_level, "MPI_Wait") && leaves_out(with_level, "poll") && !leaves_out(with_level, "solve")));

  const adaptyst::options made = adaptyst::parse_options("without=MPI_Test*;poll,timeline_limit=2G");
  CHECK(made.without == std::vector<std::string>{"MPI_Test*", "poll"});
  CHECK(made.timeline_limit == std::uint64_t{2} << 30);
  CHECK(to_string(made) == "timeline_limit=2G,without=MPI_Test*;poll");
  CHECK(adaptyst::parse_options("timeline_limit=none").timeline_limit == 0);
  CHECK(adaptyst::parse_options("timeline_limit=2048K").timeline_limit == std::uint64_t{2} << 20);
  CHECK(adaptyst::parse_options("without=MPI_Test*,poll").without == made.without);
  for (const char* const wrong : {"timeline_limit=0", "timeline_limit=3P", "timeline_limit=99999999999G"}) {
    std::vector<adaptyst::error> left_out;
    CHECK(adaptyst::parse_options(wrong, &left_out).timeline_limit == std::uint64_t{256} << 20);
    CHECK(left_out.size() == 1);
  }
}

TEST_CASE("the option names the deepest level and rules, and goes through its text unchanged") {
  adaptyst::options made = adaptyst::parse_options("level=library;step=model;a<b,c>*=3,overhead=none");
  CHECK(made.level == 4);
  CHECK(made.levels == std::vector<std::string>{"step=model", "a<b,c>*=3"});
  CHECK(made.overhead == 0);
  CHECK(adaptyst::parse_options(to_string(made)).levels == made.levels);
  CHECK(adaptyst::parse_options(to_string(made)).level == 4);
  for (const char* const wrong : {"level=libary", "level=0", "level=7", "level==layer", "level=x=none"}) {
    std::vector<adaptyst::error> left_out;
    made = adaptyst::parse_options(wrong, &left_out);
    INFO(wrong);
    CHECK(left_out.size() == 1);
    CHECK((made.level == 0 && made.levels.empty()));
  }
}

// From numpy and scipy.stats.mstats: 1, 2, 4, 8 … of n values; trim 0.2.
TEST_CASE("trimmed means of 0 to 10 values") {
  CHECK_FALSE(trimmed_mean({}, 0.2));
  const double expected[] = {1, 1.5, 2, 3.75, 14.0 / 3, 7.5, 12.4, 21, 254.0 / 7, 42};
  for (std::size_t count = 1; count <= 10; ++count) {
    std::vector<double> values;
    for (std::size_t at = 0; at != count; ++at) values.push_back(std::ldexp(1.0, static_cast<int>(at)));
    std::shuffle(values.begin(), values.end(), std::mt19937(static_cast<unsigned>(count)));
    const auto found = trimmed_mean(values, 0.2);
    INFO(count);
    REQUIRE(found);
    CHECK(found->value == Approx(expected[count - 1]).epsilon(1e-12));
    CHECK(found->count == count);
    CHECK(found->error.has_value() == (count > 1));
  }
  CHECK(trimmed_mean({1, 2, 1000}, 0)->value == 2);                   // the median
  CHECK(trimmed_mean({5, 1, 2, 4, 3}, 0.4)->value == Approx(3));      // two of each end would leave no error
  CHECK(*trimmed_mean({1, 2, 3, 4}, 0)->error == Approx(0.6454972));  // s / sqrt(n)
}

TEST_CASE("the error of a trimmed mean is as large as means scatter") {
  std::mt19937 random(3);
  std::normal_distribution<double> normal(100, 5);
  double sum = 0, squares = 0, errors = 0;
  constexpr int times = 4000;
  for (int at = 0; at != times; ++at) {
    std::vector<double> values(10);
    for (double& value : values) value = normal(random);
    const auto found = *trimmed_mean(values, 0.2);
    sum += found.value;
    squares += found.value * found.value;
    errors += *found.error * *found.error;
  }
  const double scatter = squares / times - (sum / times) * (sum / times);
  CHECK(errors / times == Approx(scatter).epsilon(0.1));
}

region made_by_hand(std::vector<std::string> path, std::uint64_t id, std::uint64_t parent, std::uint64_t total_ns,
                    std::uint64_t count = 1) {
  region made;
  made.path = std::move(path);
  made.id = id;
  made.parent = parent;
  made.count = count;
  made.total_ns = total_ns;
  return made;
}

profile run_of(std::uint64_t run_ns, std::vector<region> regions) {
  profile made;
  made.regions = std::move(regions);
  made.processes.push_back({1, "made_by_hand", "host", run_ns});
  return made;
}

const levelled_region* find(const levels_result& in, const std::vector<std::string>& path) {
  for (const levelled_region& region : in.regions)
    if (region.path == path) return &region;
  return nullptr;
}

TEST_CASE("figures of a level come from the runs that stopped there, overheads from the next") {
  const auto rules = make_level_settings(0, {"step=model"});
  std::vector<levelled_run> runs;
  for (const std::uint64_t noise : {0U, 10U, 20U}) {
    runs.push_back({level::application, run_of(1000 + noise, {made_by_hand({"main"}, 1, 0, 900 + noise)})});
    runs.push_back({level::model, run_of(1100 + noise, {made_by_hand({"main"}, 1, 0, 980 + noise),
                                                        made_by_hand({"main", "step"}, 2, 1, 400 + noise, 4)})});
    runs.push_back({level::library, run_of(1500 + noise, {made_by_hand({"main"}, 1, 0, 1380 + noise),
                                                          made_by_hand({"main", "step"}, 2, 1, 700 + noise, 4),
                                                          made_by_hand({"main", "step", "MPI_Send"}, 3, 2, 5, 8)})});
  }
  const levels_result found = compute_levels(runs, rules, 0.2);
  REQUIRE(found.levels.size() == 3);
  CHECK(found.levels[0].which == level::application);
  CHECK_FALSE(found.levels[0].overhead_ns);
  CHECK(found.levels[1].overhead_ns->value == Approx(100));
  CHECK(found.levels[2].overhead_ns->value == Approx(400));
  CHECK(found.levels[2].events == 8);
  const levelled_region* const main = find(found, {"main"});
  const levelled_region* const step = find(found, {"main", "step"});
  const levelled_region* const send = find(found, {"main", "step", "MPI_Send"});
  REQUIRE((main != nullptr && step != nullptr && send != nullptr));
  CHECK(main->total_ns.value == Approx(910));
  CHECK(main->overhead_ns->value == Approx(80));
  CHECK(step->total_ns.value == Approx(410));
  CHECK(step->per_call_ns->value == Approx(102.5));
  CHECK(step->overhead_ns->value == Approx(300));
  CHECK(send->total_ns.value == Approx(5));
  CHECK_FALSE(send->overhead_ns);
  CHECK_FALSE(send->calls_vary);
  CHECK(found.remarks.empty());
}

TEST_CASE("a region below a deeper one is the same region as without it") {
  const auto rules = make_level_settings(0, {"callback=application"});
  const std::vector<levelled_run> runs = {
      {level::application,
       run_of(100, {made_by_hand({"main"}, 1, 0, 90), made_by_hand({"main", "callback"}, 2, 1, 30, 3)})},
      {level::library, run_of(100, {made_by_hand({"main"}, 1, 0, 91), made_by_hand({"main", "MPI_Wait"}, 3, 1, 50),
                                    made_by_hand({"main", "MPI_Wait", "callback"}, 4, 3, 31, 3)})}};
  const levels_result found = compute_levels(runs, rules, 0.2);
  const levelled_region* const callback = find(found, {"main", "callback"});
  REQUIRE(callback != nullptr);
  CHECK(callback->overhead_ns->value == Approx(1));
  CHECK_FALSE(callback->overhead_ns->error);
  CHECK_FALSE(callback->calls_vary);
  CHECK(found.remarks.size() == 1);  // one run of a level
}

TEST_CASE("runs that do not do the same are told") {
  const auto rules = make_level_settings(0, {});
  std::vector<levelled_run> runs;
  for (const std::uint64_t count : {3U, 3U, 4U})
    runs.push_back({level::application, run_of(100, {made_by_hand({"main"}, 1, 0, 90, count)})});
  const levels_result found = compute_levels(runs, rules, 0.2);
  CHECK(find(found, {"main"})->calls_vary);
  REQUIRE(found.remarks.size() == 1);
  CHECK(found.remarks[0].find("1 of 1 regions were not called equally often") != std::string::npos);
}

TEST_CASE("a run that recorded all its levels has lost its events once") {
  const auto rules = make_level_settings(0, {"step=model"});
  profile run = run_of(100, {made_by_hand({"main"}, 1, 0, 90), made_by_hand({"main", "step"}, 2, 1, 80)});
  run.accounting.lost[adaptyst::loss_reason::unmatched] = 3;
  const levels_result found = compute_levels(run, level::hardware, rules);
  CHECK(found.levels.size() == 2);
  REQUIRE(found.remarks.size() == 2);
  CHECK(found.remarks[1].rfind("3 events were lost", 0) == 0);
}

TEST_CASE("time, calls, bytes and flops of a region are of the same runs") {
  const auto rules = make_level_settings(0, {});
  adaptyst::machine_ceilings ceilings;
  ceilings.cpus = 1;
  ceilings.one_gflops = ceilings.all_gflops = 5;
  ceilings.one_gbytes_per_s = ceilings.all_gbytes_per_s = 1000;
  // 1 flop a ns always; in one run of five a hundred times the work, or in three of five none at all.
  const auto run = [](std::uint64_t calls) {
    std::vector<region> regions = {made_by_hand({"main"}, 1, 0, 1'000'000)};
    if (calls != 0) {
      region made = made_by_hand({"main", "conv"}, 2, 1, 500 * calls, calls);
      made.threads = 1;
      const auto sum = static_cast<double>(500 * calls);
      made.attributes["flops"] = made.attributes["bytes"] = {calls, sum, 500, 500, 0};
      regions.push_back(made);
    }
    return levelled_run{level::application, run_of(2'000'000, regions)};
  };
  const auto measure = [&](const std::vector<std::uint64_t>& calls) {
    std::vector<levelled_run> runs;
    for (const std::uint64_t call : calls) runs.push_back(run(call));
    return compute_levels(runs, rules, 0.2, ceilings);
  };
  for (const std::vector<std::uint64_t>& calls : {std::vector<std::uint64_t>{1, 1, 1, 1, 100}, {0, 1, 0, 1, 0}}) {
    const levels_result found = measure(calls);
    const levelled_region* const conv = find(found, {"main", "conv"});
    REQUIRE(conv != nullptr);
    CHECK(conv->calls == 1);
    CHECK(conv->total_ns.value == 500);
    CHECK(conv->runs == (calls[0] == 0 ? 2U : 5U));
    CHECK(conv->calls_vary);
    REQUIRE(conv->roofline);
    CHECK(conv->roofline->gflops == Approx(1));
    CHECK(conv->roofline->share == Approx(0.2));
  }
  CHECK(measure({0, 1, 0, 1, 0}).levels[0].events == Approx(1.4));  // main, and conv in two of five
}

TEST_CASE("of no runs there is nothing to tell") {
  CHECK(compute_levels({}, make_level_settings(0, {}), 0.2).levels.empty());
}

levelled_region levelled(std::vector<std::string> path, level at, double calls, double total_ns,
                         std::optional<double> bytes = {}, std::optional<double> flops = {},
                         const char* device = "host") {
  levelled_region made;
  made.path = std::move(path);
  made.at = at;
  made.device = device;
  made.calls = calls;
  made.total_ns.value = total_ns;
  made.per_call_ns = estimate{total_ns / calls, {}, 1};
  made.bytes = bytes;
  made.flops = flops;
  made.threads = 1;
  return made;
}

// A network of two convolutions and a relu, on batches of 4, by hand; and layers outside of it.
levels_result network_by_hand() {
  const std::string run = "inference [batch=4]", net = "net", first = "conv [shape=4x3]", second = "conv [shape=4x8]";
  levels_result made;
  made.regions = {
      levelled({run}, level::application, 2, 1000),
      levelled({run, net}, level::model, 2, 800),
      levelled({run, net, first}, level::layer, 2, 300, 100, 600),
      levelled({run, net, first, "outer"}, level::library, 2, 290, 100, 600),
      levelled({run, net, first, "outer", "inner"}, level::library, 2, 250, 100, 600),
      levelled({run, net, first, "outer", "inner", "empty"}, level::library, 4, 10, 8),
      levelled({run, net, second}, level::layer, 2, 200, 50, 400),
      levelled({run, net, second, "gpu conv"}, level::device, 2, 150, 50, 400, "gpu0"),
      levelled({run, net, "relu"}, level::layer, 2, 100, 0),
      levelled({"setup"}, level::layer, 1, 5000, 7),
      levelled({"setup", "fill"}, level::library, 1, 4000, 7),
  };
  return made;
}

TEST_CASE("what some runs did not do weighs less in sums of the stack, and has the same rates") {
  levels_result found = network_by_hand();
  for (levelled_region& region : found.regions) region.runs = region.of_runs = 5;
  found.regions[2].runs = 2;  // the first convolution: 2 of 5 runs
  const stack_result made = analyse_stack(found);
  CHECK(made.layers[0].work.total_ns == Approx(300 * 0.4 / 2));  // two calls of the model
  CHECK(made.layers[0].work.calls == Approx(0.4));
  CHECK(*made.layers[0].work.gflops_per_s() == Approx(2));
  CHECK(made.layers[1].work.total_ns == 100);
  CHECK(made.types[0].work.total_ns == Approx(300 * 0.4 / 2 + 100));
}

TEST_CASE("the analyses across the stack are those made by hand") {
  const stack_result found = analyse_stack(network_by_hand());
  REQUIRE(found.models.size() == 1);
  const stack_model& model = found.models[0];
  CHECK((model.name == "net" && model.batch == 4.0 && model.latency_ns == 400 && model.layers == 3));
  CHECK(*model.item_latency_ns == 100);
  CHECK(*model.items_per_s == Approx(1e7));
  CHECK(model.kernels.total_ns == (290 + 150) / 2);  // in one of two calls
  REQUIRE(found.layers.size() == 3);
  CHECK((found.layers[0].type == "conv" && found.layers[0].shape == "shape=4x3"));
  CHECK(*found.layers[0].work.intensity() == 6);
  CHECK(*found.layers[0].work.gflops_per_s() == 2);
  CHECK((found.layers[0].kernels.total_ns == 145 && *found.layers[0].other_ns == 5 && found.layers[0].device_ns == 0));
  CHECK((*found.layers[1].other_ns == 25 && found.layers[1].device_ns == 75));
  CHECK_FALSE(found.layers[2].other_ns);
  CHECK_FALSE(found.layers[2].work.flops);
  CHECK_FALSE(found.layers[2].work.intensity());  // 0 bytes
  CHECK(*found.layers[2].work.bytes == 0);
  REQUIRE(found.types.size() == 2);
  CHECK((found.types[0].type == "conv" && found.types[0].layers == 2 && found.types[0].work.total_ns == 250));
  CHECK((*found.types[0].work.bytes == 75 && *found.types[0].work.flops == 500));
  CHECK(*found.types[0].share_of_time == Approx(500.0 / 600));
  REQUIRE(found.kernels.size() == 4);
  CHECK((found.kernels[0].name == "inner" && found.kernels[0].work.total_ns == 120 && *found.kernels[0].layer == 0));
  CHECK(*found.kernels[0].work.flops == 300);
  CHECK((found.kernels[1].name == "gpu conv" && found.kernels[1].device == "gpu0" && *found.kernels[1].layer == 1));
  // What the inner one does is not the outer one's as well.
  CHECK((found.kernels[2].name == "outer" && found.kernels[2].work.total_ns == 20 && !found.kernels[2].work.flops));
  CHECK((found.kernel_names.size() == 4 && found.kernel_names[0].layers == 1));
}

TEST_CASE("what submits work to a device, or waits for it, is no kernel") {
  levels_result network = network_by_hand();
  const std::vector<std::string> second = network.regions[6].path;
  REQUIRE(network.regions[6].at == level::layer);
  for (const char* const call : {"cudaLaunchKernel", "cudaStreamSynchronize", "dispatch"}) {
    std::vector<std::string> path = second;
    path.emplace_back(call);
    network.regions.push_back(levelled(path, level::library, 2, 140, 0));
  }
  const stack_result found = analyse_stack(network);
  CHECK((found.layers[1].kernels.total_ns == 75 && *found.layers[1].other_ns == 25));
  CHECK(found.kernels.size() == 4);
  CHECK(adaptyst::lib::is_device_call("hipMemcpyAsync"));
  CHECK(adaptyst::lib::is_device_call("clFinish"));
  CHECK_FALSE(adaptyst::lib::is_device_call("cublasSgemm"));
  CHECK_FALSE(adaptyst::lib::is_device_call("clamp"));
  CHECK_FALSE(adaptyst::lib::is_device_call("cu"));
}

TEST_CASE("types of layers and names of kernels belong to one model") {
  levels_result network = network_by_hand();
  const std::size_t regions = network.regions.size();
  for (std::size_t at = 0; at != regions; ++at) {
    levelled_region other = network.regions[at];
    if (other.path[0] != "inference [batch=4]") continue;
    other.path[0] = "inference [batch=8]";
    network.regions.push_back(std::move(other));
  }
  const stack_result found = analyse_stack(network);
  REQUIRE(found.models.size() == 2);
  REQUIRE(found.types.size() == 4);
  for (const auto& type : found.types) CHECK(type.executed == (type.type == "conv" ? 2 : 1));
  CHECK(found.types[0].model != found.types[1].model);
  CHECK(*found.types[0].share_of_time == Approx(500.0 / 600));
  CHECK(found.kernel_names.size() == 8);
}

TEST_CASE("types of layers are counted as often as a model executes them") {
  levels_result network = network_by_hand();
  network.regions[2].calls = 8;  // the first convolution, 4 times in a call of the model; the others once
  const stack_result found = analyse_stack(network);
  CHECK((found.layers[0].executed == 4 && found.layers[1].executed == 1));
  CHECK((found.models[0].layers == 3 && found.models[0].executed == 6));
  REQUIRE(found.types[0].type == "conv");
  CHECK((found.types[0].layers == 2 && found.types[0].executed == 5));
  CHECK(found.types[0].share_of_layers == Approx(5.0 / 6));
  // The layer outside of all models is omitted.
  CHECK(found.layers.size() == 3);
  network.regions.erase(network.regions.begin(), network.regions.begin() + 9);  // "setup" is left, no model
  const stack_result outside = analyse_stack(network);
  REQUIRE(outside.layers.size() == 1);
  CHECK(outside.layers[0].executed == 1);
}

TEST_CASE("a model has the flops of the kernels that have any, with their share of the time") {
  const stack_result found = analyse_stack(network_by_hand());
  const stack_work& kernels =
      found.models[0].kernels;  // of two calls: inner 240 ns, outer 40 and empty 10 without flops, gpu conv 150
  CHECK(*kernels.flops == (600 + 400) / 2);
  CHECK(*kernels.flops_share() == Approx((240.0 + 150) / 440));
  CHECK(*kernels.gflops_per_s() == Approx(1000.0 / 390));
  CHECK_FALSE(kernels.intensity());  // bytes and flops are of different regions
  CHECK(*found.layers[0].work.flops_share() == 1);
  CHECK(*found.layers[2].work.flops_share() == 0);
  const std::string table = to_table(found, 150);
  CHECK(table.find("88.6%") != std::string::npos);
  CHECK(table.find("≥500") != std::string::npos);
  CHECK(table.find("optimal batch:") == std::string::npos);  // a single batch
  const stack_work nothing;
  CHECK_FALSE(nothing.flops_share());
}

TEST_CASE("no table across the stack is cut at 100 columns, and amounts have tables of their own") {
  levels_result network = network_by_hand();
  const std::string known = to_table(analyse_stack(network), 100);
  for (const char* const heading : {"FLOP/BYTE", "GFLOP/s", "%ROOF  BOUND", "KERNELS", "OTHER", "%TIME"})
    CHECK(known.find(heading) != std::string::npos);
  CHECK(known.find("LAYERS: memory, flops, roofline") != std::string::npos);
  std::size_t from = 0;
  for (std::size_t end = known.find('\n'); end != std::string::npos; from = end + 1, end = known.find('\n', from)) {
    const std::string line = known.substr(from, end - from);
    CAPTURE(line);
    CHECK(adaptyst::lib::width(line) <= 100);
    // A cut line ends in this character.
    CHECK((line.size() < 3 || line.substr(line.size() - 3) != "…" || line.rfind("… and", 0) == 0));
  }
  for (levelled_region& region : network.regions) region.bytes = region.flops = std::nullopt;
  const std::string unknown = to_table(analyse_stack(network), 100);
  CHECK(unknown.find("LAYERS: shape, latency") != std::string::npos);
  CHECK(unknown.find("%ROOF  BOUND") == std::string::npos);
}

TEST_CASE("the optimal batch is the least that gains at most 5 % when it is doubled") {
  const auto batches = [](std::initializer_list<std::pair<int, double>> latencies) {
    levels_result made;
    for (const auto& [batch, latency_ns] : latencies)
      made.regions.push_back(levelled({"net [batch=" + std::to_string(batch) + "]"}, level::model, 1, latency_ns));
    return analyse_stack(made);
  };
  const auto optimal = [](const stack_result& of) {
    std::vector<double> made;
    for (const stack_model& model : of.models)
      if (model.is_optimal_batch.value_or(false)) made.push_back(*model.batch);
    return made;
  };
  // Items per second: 1, 1.6, 1.67, 1.7.
  const stack_result found = batches({{1, 1000}, {2, 1250}, {4, 4000 / 1.67}, {8, 8000 / 1.7}});
  CHECK(optimal(found) == std::vector<double>{2});
  CHECK(to_table(found, 150).find("optimal batch: 2 (net [batch=2])") != std::string::npos);
  // Twice 5 % over two doublings are enough; 12 % are not.
  CHECK(optimal(batches({{1, 1000}, {4, 4000 / 1.1}})) == std::vector<double>{1});
  CHECK(optimal(batches({{1, 1000}, {4, 4000 / 1.12}})).empty());
  const stack_result growing = batches({{1, 1000}, {2, 1250}});
  CHECK(optimal(growing).empty());
  CHECK(to_table(growing, 150).find("optimal batch: larger than the measured ones") != std::string::npos);
  CHECK_FALSE(batches({{4, 1000}}).models[0].is_optimal_batch);
}

TEST_CASE("rooflines across the stack are those made by hand") {
  levels_result network = network_by_hand();
  for (const stack_layer& layer : analyse_stack(network).layers) CHECK_FALSE(layer.roofline);  // no ceilings
  // One thread attains 16 GFLOP/s and 0.5 GB/s, both together 20 and 0.8.
  network.ceilings =
      adaptyst::machine_ceilings{"node1", "", "", 2, adaptyst::flop_precision::double_precision, 16, 0.5, 20, 0.8};
  network.regions[4].threads = 2;  // "inner"
  stack_result found = analyse_stack(network);
  REQUIRE(found.layers[0].roofline);  // 6 FLOP/B and 2 GFLOP/s of 6 * 0.5
  CHECK(found.layers[0].roofline->attainable_gflops == Approx(3));
  CHECK(found.layers[0].roofline->share == Approx(2.0 / 3));
  CHECK(found.layers[0].roofline->bound == adaptyst::roofline_bound::memory);
  CHECK(found.layers[1].roofline->share == Approx(2 / 4.0));
  CHECK_FALSE(found.layers[2].roofline);  // its flops are not known
  REQUIRE(found.kernels[0].roofline);     // 600 in 240 ns of its own, of 6 * 0.8 / 2
  CHECK(found.kernels[0].roofline->attainable_gflops == Approx(2.4));
  CHECK(found.kernels[0].roofline->share == Approx(2.5 / 2.4));
  CHECK_FALSE(found.kernels[1].roofline);  // of a device
  CHECK_FALSE(found.kernels[2].roofline);  // what is its own is not known
  const auto value = nlohmann::json::parse(
      to_json(adaptyst::lib::levels_report{network, adaptyst::lib::levels_settings{}, found}))["stack"];
  CHECK(value["layers"][0]["roofline"]["bound"] == "memory");
  CHECK_FALSE(value["layers"][2].contains("roofline"));
  CHECK(value["kernels"][0]["roofline"]["threads"] == 2);
  CHECK_FALSE(value["kernels"][1].contains("roofline"));
  CHECK(to_table(found, 150).find("66.7%  memory") != std::string::npos);
  network.ceilings->one_gflops = 2.5;
  found = analyse_stack(network);
  CHECK(found.layers[0].roofline->share == Approx(0.8));
  CHECK(found.layers[0].roofline->bound == adaptyst::roofline_bound::compute);
}

// Each nanosecond of level library is in one kernel, however they are nested; and all of them in their layers.
TEST_CASE("kernels of the host share the time of the library") {
  std::mt19937 random(5);
  for (int at = 0; at != 200; ++at) {
    levels_result made;
    made.regions.push_back(levelled({"layer"}, level::layer, 1, 1e6));
    double outermost_ns = 0;
    std::vector<std::pair<std::vector<std::string>, double>> open = {{{"layer"}, 0}};
    for (int number = 0; number != 12; ++number) {
      const std::size_t around = random() % open.size();
      std::vector<std::string> path = open[around].first;
      path.push_back("k" + std::to_string(number));
      const double total_ns = around == 0 ? 1000.0 + static_cast<double>(random() % 1000) : open[around].second / 16;
      if (around == 0) outermost_ns += total_ns;
      made.regions.push_back(levelled(path, level::library, 1, total_ns));
      open.emplace_back(path, total_ns);
    }
    std::shuffle(made.regions.begin(), made.regions.end(), random);
    const stack_result found = analyse_stack(made);
    double sum_ns = 0;
    for (const stack_kernel& kernel : found.kernels) sum_ns += kernel.work.total_ns;
    CHECK(sum_ns == Approx(outermost_ns).epsilon(1e-12));
    CHECK(found.layers[0].kernels.total_ns == Approx(outermost_ns).epsilon(1e-12));
    CHECK_FALSE(found.kernel_names[0].work.flops);
  }
}

TEST_CASE("the period is that of a search through all lengths") {
  std::mt19937 random(9);
  const auto search = [](const std::vector<std::uint32_t>& values) {
    for (std::size_t length = 1; 2 * length <= values.size(); ++length)
      if (std::equal(values.begin() + static_cast<std::ptrdiff_t>(length), values.end(), values.begin())) return length;
    return values.size();
  };
  CHECK(find_period({}) == 0);
  for (int at = 0; at != 2000; ++at) {
    std::vector<std::uint32_t> values(random() % 12);
    for (std::uint32_t& value : values) value = random() % 2;
    if (values.size() > 3 && at % 2 == 0)
      for (std::size_t place = 3; place != values.size(); ++place) values[place] = values[place - 3];
    CHECK(find_period(values) == search(values));
  }
}

// Two calls of a model with conv, relu, conv on one thread, and one call without relu on another.
timed_layers calls_by_hand() {
  timed_layers made;
  made.paths = {{"net"}, {"net", "conv"}, {"net", "relu"}};
  made.complete_until_ns = {timed_layers::always, timed_layers::always};
  made.models = {{0, 0, 100, 200}, {0, 0, 0, 100}, {1, 0, 0, 500}};
  made.layers = {{0, 1, 0, 10},    {0, 2, 10, 30},   {0, 1, 60, 100},  // all of the first call, to its end
                 {0, 1, 100, 120}, {0, 2, 120, 160}, {0, 1, 160, 200}, {1, 1, 0, 10}, {1, 1, 10, 20}};
  made.kernels = {{0, 1, 100, 7, true}, {0, 1, 5, 3, true}, {0, 1, 165, 4, false}, {0, 1, 60, 2, false}};
  return made;
}

stack_result stack_by_hand() {
  levels_result network;
  network.regions = {levelled({"net"}, level::model, 3, 700), levelled({"net", "conv"}, level::layer, 6, 130),
                     levelled({"net", "relu"}, level::layer, 2, 60)};
  return analyse_stack(network);
}

TEST_CASE("layers are in their order of execution, as made by hand") {
  stack_result found = stack_by_hand();
  std::vector<std::string> remarks;
  add_passes(calls_by_hand(), found, remarks);
  REQUIRE(found.passes.size() == 1);
  const stack_pass& pass = found.passes[0];
  CHECK((pass.model == 0 && pass.passes == 2 && pass.other_passes == 1));
  REQUIRE(remarks.size() == 1);
  CHECK(remarks[0] == "net: 1 of 3 passes execute another sequence of layers, and are in no mean");
  REQUIRE(pass.layers.size() == 3);
  CHECK((pass.layers[0].layer == 0 && pass.layers[1].layer == 1 && pass.layers[2].layer == 0));
  CHECK((pass.layers[0].latency_ns.value == 15 && *pass.layers[0].latency_ns.error == Approx(5)));
  CHECK(pass.layers[1].latency_ns.value == 30);
  CHECK((*pass.layers[0].device_ns == 5 && *pass.layers[0].kernels_ns == 5 && *pass.layers[0].other_ns == 10));
  CHECK((*pass.layers[1].kernels_ns == 0 && !pass.layers[1].other_ns));
  CHECK((*pass.layers[2].kernels_ns == 3 && *pass.layers[2].device_ns == 0 && *pass.layers[2].other_ns == 37));
}

TEST_CASE("kernels without a submission time are in no layer of an order") {
  timed_layers calls = calls_by_hand();
  calls.unlinked_layers = {1};
  stack_result found = stack_by_hand();
  std::vector<std::string> remarks;
  add_passes(calls, found, remarks);
  CHECK_FALSE(found.passes.at(0).layers.at(0).kernels_ns);
  CHECK_FALSE(found.passes.at(0).layers.at(0).device_ns);
  CHECK(found.passes.at(0).layers.at(1).kernels_ns);
}

TEST_CASE("calls after an omitted one are in no pass, and layers outside of calls are counted") {
  timed_layers calls = calls_by_hand();
  calls.complete_until_ns[0] = 150;
  stack_result found = stack_by_hand();
  std::vector<std::string> remarks;
  add_passes(calls, found, remarks);
  CHECK((found.passes.at(0).passes == 1 && found.passes.at(0).other_passes == 1));
  calls = calls_by_hand();
  calls.layers.push_back({1, 1, 600, 700});
  calls.layers.push_back({0, 1, 90, 110});  // crosses the end of a call
  found = stack_by_hand();
  remarks.clear();
  add_passes(calls, found, remarks);
  REQUIRE(remarks.size() == 2);
  CHECK(remarks[1].rfind("2 calls of layers are not within a call of their model", 0) == 0);
  CHECK(found.passes.at(0).passes == 2);
}

TEST_CASE("an order of too many layers is not listed") {
  timed_layers calls;
  calls.paths = {{"conv"}, {"relu"}};
  calls.complete_until_ns = {timed_layers::always};
  for (std::uint64_t at = 0; at != max_pass_layers + 1; ++at)
    calls.layers.push_back({0, at == 7 ? 1U : 0U, 10 * at, 10 * at + 5});
  levels_result network;
  network.regions = {levelled({"conv"}, level::layer, 1, 1), levelled({"relu"}, level::layer, 1, 1)};
  stack_result found = analyse_stack(network);
  std::vector<std::string> remarks;
  add_passes(calls, found, remarks);
  CHECK(found.passes.empty());
  CHECK(remarks.size() == 1);
}

}  // namespace
