// The profile as JSON: the contract's keys, and texts of any bytes. Whether it follows docs/profile-schema.json is for
// validate_json.py to say.
#include <adaptyst/profile.hpp>
#include <nlohmann/json.hpp>

#include "catch.hpp"
#include "samples.hpp"

namespace {

using nlohmann::json;

json parsed(const adaptyst::profile& profile) { return json::parse(adaptyst::to_json(profile)); }

adaptyst::profile with_one_region() {
  adaptyst::profile made;
  made.engine = "inline";
  made.processes.push_back({42, "/bin/solver", "host", 1000});
  made.devices.resize(1);
  made.devices[0].kind = adaptyst::device_kind::cpu;
  made.devices[0].observed_ns = 1000;
  adaptyst::region row;
  row.path = {"a", "b"};
  row.id = ~std::uint64_t{0};
  row.parent = 5;
  row.site = {"a.cpp", 12, "solve"};
  row.kind = adaptyst::region_kind::region;
  row.threads = 3;
  row.count = 2;
  row.total_ns = 300;
  row.self_ns = 250;
  row.min_ns = 100;
  row.max_ns = 200;
  row.durations.add(100);
  row.durations.add(200);
  made.regions.push_back(row);
  made.accounting = {7, 2, 1, {{adaptyst::loss_reason::too_deep, 4}}, 1, 0, std::nullopt, std::nullopt, std::nullopt};
  return made;
}

}  // namespace

TEST_CASE("a region's row holds what was measured, and p50 and its like within its extremes") {
  const json all = parsed(with_one_region());
  CHECK(all["schema"] == 1);
  CHECK(all["engine"] == "inline");
  const json& row = all["regions"].at(0);
  CHECK(row["name"] == "b");
  CHECK(row["path"] == json({"a", "b"}));  // no row has the id of its parent
  CHECK(row["site"] == json({{"file", "a.cpp"}, {"line", 12}, {"function", "solve"}}));
  CHECK(row["count"] == 2);
  CHECK(row["threads"] == 3);
  CHECK(row["total_ns"] == 300);
  CHECK(row["self_ns"] == 250);
  CHECK(row["min_ns"] == 100);
  CHECK(row["max_ns"] == 200);
  CHECK(row["p50_ns"].get<double>() == Approx(100).epsilon(0.03));
  CHECK(row["p99_ns"].get<double>() <= 200);
  CHECK(row["overhead_ns"].is_null());
  CHECK(row["histogram"].size() == 2);
  CHECK(all["accounting"]["lost"] == json({{"too_deep", 4}}));
  CHECK(all["accounting"]["overhead_ns"].is_null());
  CHECK(all["process"]["pid"] == 42);
  CHECK_FALSE(all.contains("processes"));
}

TEST_CASE("an estimate says how many events it is made of, and how far it may be off; others say nothing") {
  adaptyst::profile made;
  made.regions.resize(2);
  made.regions[0].path = {"exact"};
  made.regions[1].path = {"sampled"};
  made.regions[1].count = 64;
  made.regions[1].timed_events = 1;
  made.regions[1].count_variance = 64 * 63;
  made.regions[1].measured_on = {{{false, 64}, 1000}, {{false, 1}, 7}};
  const json all = json::parse(adaptyst::to_json(made))["regions"];
  for (const char* const key : {"sampled", "count_error", "total_error_ns", "measured_on"})
    CHECK(!all[0].contains(key));
  CHECK(all[1]["sampled"] == 1);
  CHECK(all[1]["count_error"].get<double>() == Approx(63.498));
  CHECK(all[1]["total_error_ns"].is_null());
  CHECK(all[1]["measured_on"] == json{{"1 of 64", 1000}, {"recorder", 7}});
}

TEST_CASE("what could not be had is null, and never 0") {
  adaptyst::profile in = with_one_region();
  adaptyst::region mark;
  mark.path = {"mark"};
  mark.kind = adaptyst::region_kind::instant_event;
  mark.count = 5;
  in.regions.push_back(mark);
  const json all = parsed(in);
  const json& row = all["regions"].at(1);
  CHECK(row["count"] == 5);
  for (const char* const key : {"total_ns", "self_ns", "min_ns", "max_ns", "p50_ns", "p90_ns", "p99_ns"})
    CHECK(row[key].is_null());
  const json& cpu = all["devices"].at(0);
  for (const char* const key :
       {"busy_ns",    "kernel_ns",      "copy_ns",    "exposed_copy_ns", "idle_ns", "queue_wait_ns", "utilisation",
        "other_ns",   "launch_idle_ns", "starved_ns", "awaited_ns",      "overlap", "work_ns",       "concurrency",
        "queue_wait", "launch_latency", "bytes_to",   "bytes_from",      "flops",   "clock",         "unused_ns"})
    CHECK(cpu[key].is_null());
  in.devices[0].busy_ns = 0;
  CHECK(parsed(in)["devices"].at(0)["busy_ns"] == 0);
  CHECK(parsed(in)["devices"].at(0)["idle_ns"] == 1000);
}

TEST_CASE("threads and times that are not known are null, and 0 again behind the file") {
  adaptyst::profile in = with_one_region();
  adaptyst::process_info process;
  process.pid = 1;
  in.processes.assign(1, process);
  in.regions[0].threads = 0;
  in.regions[0].context.emplace();
  in.devices[0].context.emplace().voluntary_switches = 3;
  in.context.emplace();
  const json all = parsed(in);
  CHECK(all["regions"].at(0)["threads"].is_null());
  CHECK(all["process"]["duration_ns"].is_null());
  CHECK(all["devices"].at(0)["context"]["wall_ns"].is_null());
  CHECK(all["devices"].at(0)["context"]["on_cpu_ns"].is_null());
  CHECK(all["context"]["threads"].is_null());
  const std::string text = adaptyst::to_json(in);
  const adaptyst::profile read = adaptyst::from_json(text);
  CHECK(read.regions[0].threads == 0);
  CHECK(adaptyst::to_json(read) == text);
  in.processes[0].duration_ns = 5;
  CHECK(parsed(in)["process"]["duration_ns"] == 5);
}

TEST_CASE("numbers that JSON cannot write are null") {
  adaptyst::profile in = with_one_region();
  in.regions[0].attributes["residual"] = {2, __builtin_nan(""), __builtin_huge_val(), -__builtin_huge_val()};
  in.regions[0].overhead_ns = __builtin_nan("");
  in.accounting.overhead_ns = __builtin_huge_val();
  const json all = parsed(in);
  const json& residual = all["regions"].at(0)["attributes"]["residual"];
  CHECK(residual["count"] == 2);
  for (const char* const key : {"sum", "min", "max"}) CHECK(residual[key].is_null());
  CHECK(all["regions"].at(0)["overhead_ns"].is_null());
  CHECK(all["accounting"]["overhead_ns"].is_null());
}

TEST_CASE("bytes and flops have a rate, where there was time") {
  adaptyst::profile in = with_one_region();
  in.regions[0].attributes["bytes"] = {2, 600, 300, 300};
  in.regions[0].attributes["cells"] = {2, 600, 300, 300};
  json attributes = parsed(in)["regions"].at(0)["attributes"];
  CHECK(attributes["bytes"]["per_second"] == 2e9);
  CHECK_FALSE(attributes["cells"].contains("per_second"));
  for (const char* const name :
       {"MPI_Isend", "MPI_Ibcast", "MPI_Send_init", "MPI_Startall", "MPI_Put", "MPI_Put [peer=1]",
        "MPI_Recv_init [peer=1]", "cudaMemcpyAsync", "cudaMemcpyAsync [stream]"}) {
    in.regions[0].path.back() = name;  // it returns before the bytes have moved
    CHECK_FALSE(parsed(in)["regions"].at(0)["attributes"]["bytes"].contains("per_second"));
    CHECK(adaptyst::to_table(in).find("600 B at") == std::string::npos);
  }
  for (const char* const name : {"MPI_Send", "MPI_Init", "MPI_Info_get", "MPI_Intercomm_merge", "step"}) {
    in.regions[0].path.back() = name;
    CHECK(parsed(in)["regions"].at(0)["attributes"]["bytes"]["per_second"] == 2e9);
    CHECK(adaptyst::to_table(in).find("600 B at") != std::string::npos);
  }
  in.regions[0].total_ns = 0;
  CHECK_FALSE(parsed(in)["regions"].at(0)["attributes"]["bytes"].contains("per_second"));
}

TEST_CASE("an empty profile, and one of several processes, are whole") {
  const json none = parsed({});
  CHECK(none["devices"] == json::array());
  CHECK(none["regions"] == json::array());
  CHECK(none["accounting"]["lost"] == json::object());
  CHECK(none["process"].is_null());
  adaptyst::profile in = with_one_region();
  in.processes.push_back({43, "/bin/other", "host", 2000});
  const json two = parsed(in);
  CHECK(two["process"]["pid"] == 42);
  REQUIRE(two["processes"].size() == 2);
  CHECK(two["processes"].at(1)["pid"] == 43);
}

TEST_CASE("names of any bytes survive, what is not UTF-8 replaced") {
  for (const std::string& name : samples::nasty_names()) {
    adaptyst::profile in = with_one_region();
    in.regions[0].path = {name, name};
    in.regions[0].site.file = in.regions[0].site.function = name;
    in.regions[0].attributes[name] = {1, 1, 1, 1};
    in.devices[0].name = in.processes[0].command = in.processes[0].host = in.reason = name;
    const std::string text = adaptyst::to_json(in);
    CAPTURE(name);
    json all;
    REQUIRE_NOTHROW(all = json::parse(text));
    const auto shown = all["regions"].at(0)["path"].at(1).get<std::string>();
    if (samples::spell(name).broken == 0) CHECK(shown == name);
    else CHECK(shown.find("\xef\xbf\xbd") != std::string::npos);
    CHECK(all["devices"].at(0)["name"] == shown);
    CHECK(all["regions"].at(0)["attributes"].contains(shown));
  }
}

TEST_CASE("ids are written as text, of all 64 bits") {
  const json all = parsed(with_one_region());
  CHECK(all["regions"].at(0)["id"] == "ffffffffffffffff");
  CHECK(all["regions"].at(0)["parent"] == "0000000000000005");
}

TEST_CASE("the histogram holds every duration") {
  for (std::uint64_t seed = 0; seed != 50; ++seed) {
    const adaptyst::profile in = samples::generator(seed).profile();
    const json all = parsed(in);
    for (std::size_t at = 0; at != in.regions.size(); ++at) {
      std::uint64_t sum = 0;
      for (const json& pair : all["regions"].at(at)["histogram"]) sum += pair.at(1).get<std::uint64_t>();
      REQUIRE(sum == in.regions[at].count);
    }
  }
}

TEST_CASE("names that differ only in what is replaced are one key, with the values of all") {
  adaptyst::profile made = with_one_region();
  made.metadata = {{"\xff", "one"}, {"\xfe", "two"}};
  made.options = {{"\xff", "one"}, {"\xfe", "two"}};
  made.functions = {{"\xff", 2}, {"\xfe", 3}};
  const adaptyst::profile read = adaptyst::from_json(adaptyst::to_json(made));
  const std::string replaced = "\xef\xbf\xbd";
  CHECK(read.metadata == std::map<std::string, std::string>{{replaced, "two | one"}});
  CHECK(read.options == std::map<std::string, std::string>{{replaced, "two | one"}});
  CHECK(read.functions.at(replaced) == 5);
}
