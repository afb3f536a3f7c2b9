// What was written is read back whole, and everything else is refused with the place where it is wrong. That the schema
// and the reader agree is for tests/tools/damaged_profiles.py to say.
#include <adaptyst/profile.hpp>
#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "catch.hpp"
#include "samples.hpp"
#include "sanitized.hpp"

namespace {

using nlohmann::json;

// One with everything in it, in the smallest numbers.
adaptyst::profile whole() {
  adaptyst::profile made;
  made.engine = "inline";
  made.version = "0.1.0";
  made.metadata = {{"mesh", "512^3"}};
  made.metadata_lost = 2;
  made.processes = {{42, "/bin/solver", "host", 1000}, {43, "/bin/solver", "host", 1001}};
  made.processes[0].arguments = {"/bin/solver", "--mesh", ""};
  made.processes[0].started = "2026-01-31T12:00:00Z";
  made.devices.resize(1);
  made.devices[0].kind = adaptyst::device_kind::cpu;
  made.devices[0].busy_ns = 3;
  made.devices[0].observed_ns = 10;
  adaptyst::region row;
  row.path = {"a", "b/c~d"};
  row.id = 0xfedcba9876543210;
  row.parent = 5;
  row.site = {"a.cpp", 12, "solve"};
  row.kind = adaptyst::region_kind::offload;
  row.threads = 3;
  row.count = 3;
  row.total_ns = 500;
  row.self_ns = 450;
  row.min_ns = 100;
  row.max_ns = 200;
  row.durations.add(100);
  row.durations.add(200, 2);
  row.attributes["bytes"] = {2, 600.5, -3, 1e300};
  row.overhead_ns = 0.1;
  made.regions.push_back(row);
  made.accounting = {8,
                     3,
                     1,
                     {{adaptyst::loss_reason::too_deep, 4}},
                     1,
                     2,
                     0.3,
                     adaptyst::unread_programs{2, 50},
                     adaptyst::refused_programs{1, "no"}};
  return made;
}

void check_round_trip(const adaptyst::profile& profile) {
  const std::string text = adaptyst::to_json(profile);
  CHECK(adaptyst::to_json(adaptyst::from_json(text)) == text);
}

std::string refusal(const std::string& text) {
  try {
    adaptyst::from_json(text);
  } catch (const adaptyst::error& refused) {
    return refused.summary();
  }
  return "";
}

// `whole` with the value at `pointer` replaced.
std::string with(const std::string& pointer, const json& value) {
  json changed = json::parse(adaptyst::to_json(whole()));
  changed[json::json_pointer(pointer)] = value;
  return changed.dump();
}

}  // namespace

TEST_CASE("every member comes back") {
  const adaptyst::profile in = whole();
  const adaptyst::profile out = adaptyst::from_json(adaptyst::to_json(in));
  CHECK(out.engine == "inline");
  CHECK(out.version == "0.1.0");
  CHECK(out.metadata == in.metadata);
  CHECK(out.metadata_lost == 2U);
  CHECK(out.processes[0].arguments == std::vector<std::string>{"/bin/solver", "--mesh", ""});
  CHECK(out.processes[0].started == "2026-01-31T12:00:00Z");
  CHECK(out.date() == "2026-01-31T12:00:00Z");
  REQUIRE(out.processes.size() == 2);
  CHECK(out.processes[0].pid == 42);
  CHECK(out.processes[1].duration_ns == 1001);
  REQUIRE(out.devices.size() == 1);
  CHECK(out.devices[0].busy_ns == 3U);
  CHECK_FALSE(out.devices[0].kernel_ns.has_value());
  REQUIRE(out.regions.size() == 1);
  const adaptyst::region& row = out.regions[0];
  CHECK(row.path == std::vector<std::string>{"a", "b/c~d"});
  CHECK(row.id == 0xfedcba9876543210);
  CHECK(row.parent == 5);
  CHECK(row.site.file == "a.cpp");
  CHECK(row.site.line == 12);
  CHECK(row.site.function == "solve");
  CHECK(row.kind == adaptyst::region_kind::offload);
  CHECK(row.threads == 3);
  CHECK(row.total_ns == 500);
  CHECK(row.self_ns == 450);
  CHECK(row.min_ns == 100);
  CHECK(row.max_ns == 200);
  CHECK(row.durations == in.regions[0].durations);
  CHECK(row.durations.count() == 3);
  CHECK(row.attributes.at("bytes").sum == 600.5);
  CHECK(row.attributes.at("bytes").max == 1e300);
  CHECK(row.overhead_ns == 0.1);
  CHECK(out.accounting.lost.at(adaptyst::loss_reason::too_deep) == 4);
  CHECK(out.accounting.unnamed == 2);
  CHECK(out.accounting.unread->programs == 2);
  CHECK(out.accounting.unread->up_to_ns == 50);
  CHECK(out.accounting.refused->programs == 1);
  CHECK(out.accounting.refused->why == "no");
}

TEST_CASE("a path is told by the name of each row and the id of the row above it") {
  adaptyst::profile in = whole();
  in.regions[0].path = {"a"};
  in.regions[0].parent = 0;
  in.regions.push_back(in.regions[0]);
  in.regions[1].path = {"a", "b"};
  in.regions[1].id = 7;
  in.regions[1].parent = in.regions[0].id;
  const json rows = json::parse(adaptyst::to_json(in))["regions"];
  for (const json& row : rows) CHECK_FALSE(row.contains("path"));
  CHECK(rows.at(1)["name"] == "b");
  CHECK(adaptyst::from_json(adaptyst::to_json(in)).regions.at(1).path == in.regions[1].path);
  check_round_trip(in);
  // Where the row above is another's, or comes later, the path stands there.
  std::swap(in.regions[0], in.regions[1]);
  CHECK(json::parse(adaptyst::to_json(in))["regions"].at(0)["path"] == json({"a", "b"}));
  check_round_trip(in);
  std::swap(in.regions[0], in.regions[1]);
  in.regions[1].path = {"other", "b"};
  CHECK(json::parse(adaptyst::to_json(in))["regions"].at(1)["path"] == json({"other", "b"}));
  check_round_trip(in);
}

TEST_CASE("names that lead nowhere are refused") {
  json damaged = json::parse(adaptyst::to_json(whole()));
  damaged["regions"][0].erase("path");
  CHECK(refusal(damaged.dump()) ==
        "not a profile: /regions/0/parent: expected the id of a row before this one, as there is no \"path\"; found "
        "\"0000000000000005\"");
  damaged["regions"][0].erase("name");
  CHECK(refusal(damaged.dump()).find("\"name\" is missing") != std::string::npos);
  CHECK(refusal(with("/regions/0/name", "other")).find("expected the last name of \"path\"") != std::string::npos);
}

TEST_CASE("a recursion 1,000 deep takes at most 500 bytes a row, and comes back") {
  constexpr std::size_t depth = 1000;
  adaptyst::profile in = whole();
  adaptyst::region row = in.regions[0];
  row.path.clear();
  row.attributes.clear();
  in.regions.clear();
  for (std::size_t level = 1; level <= depth; ++level) {
    row.path.emplace_back("visit_children");
    row.parent = level - 1;
    row.id = level;
    in.regions.push_back(row);
  }
  const std::string text = adaptyst::to_json(in);
  CAPTURE(text.size() / depth);
  CHECK(text.size() <= 500 * depth);
  const adaptyst::profile out = adaptyst::from_json(text);
  CHECK(out.regions.at(depth - 1).path.size() == depth);
  CHECK((adaptyst::to_json(out) == text));
}

TEST_CASE("a small file cannot ask for more than a GiB of paths") {
  constexpr std::size_t name_bytes = std::size_t{8} << 20;
  constexpr std::uint64_t rows = 160;
  adaptyst::profile in = whole();
  adaptyst::region row = in.regions[0];
  in.regions.clear();
  row.path = {"placeholder"};
  row.parent = 0;
  for (row.id = 1; row.id <= rows; ++row.id) {
    in.regions.push_back(row);
    row.path = {row.path[0], "child"};
    row.parent = 1;
  }
  std::string text = adaptyst::to_json(in);
  const std::string place = "placeholder";
  text.replace(text.find(place), place.size(), name_bytes, 'n');
  REQUIRE(text.find(place) == std::string::npos);  // other rows have the id of their parent
  CHECK(refusal(text).find("paths of at most 1073741824 bytes in all") != std::string::npos);
}

TEST_CASE("every kind of region comes back") {
  for (unsigned at = 0; at != static_cast<unsigned>(adaptyst::region_kind::metric); ++at) {
    const auto kind = static_cast<adaptyst::region_kind>(at);
    adaptyst::profile in = whole();
    in.regions[0].kind = kind;
    CHECK(adaptyst::from_json(adaptyst::to_json(in)).regions[0].kind == kind);
  }
}

TEST_CASE("what was written is written again, to the byte") {
  check_round_trip({});
  check_round_trip(whole());
  check_round_trip(samples::nasty_profile());
  adaptyst::profile all;
  for (std::uint64_t seed = 0; seed != random_rounds<std::uint64_t>(100); ++seed) {
    const adaptyst::profile profile = samples::generator(seed).profile_with_stacks();
    CAPTURE(seed);
    check_round_trip(profile);
    adaptyst::merge(all, profile);
  }
  check_round_trip(all);
  for (const std::string& name : samples::nasty_names()) {
    adaptyst::profile in = whole();
    in.regions[0].path = {name, name};
    in.regions[0].site = {name, 1, name};
    in.devices[0].name = in.processes[0].command = in.processes[1].host = in.mechanism = in.reason = name;
    in.regions[0].attributes[name] = {1, __builtin_nan(""), __builtin_huge_val(), -__builtin_huge_val()};
    check_round_trip(in);
  }
}

TEST_CASE("stacks are as deep as paths at most") {
  const auto write = [](std::uint32_t frames) {
    adaptyst::profile in = whole();
    in.stacks = {{0, {}}};
    for (std::uint32_t depth = 0; depth != frames; ++depth) in.stacks[0].frames.push_back({"f", depth, 1, 0, 0});
    return adaptyst::to_json(in);
  };
  CHECK(refusal(write(4097)).empty());
  CHECK(refusal(write(4098)) == "not a profile: /stacks/0/frames/4097/depth: expected less than 4097; found 4097");
}

TEST_CASE("ceilings and rooflines are greater than 0, and lists as long as they are written") {
  adaptyst::profile in = whole();
  in.ceilings = adaptyst::machine_ceilings{"here", "a processor", "2026-11-25T00:00:00Z", 2, {}, 10, 20, 15, 30};
  in.regions[0].roofline = adaptyst::roofline{0.5, 1, 2, 4, 0.25, {}, 1};
  in.machines.resize(adaptyst::profile::max_machines);
  in.processes[0].thread_list.resize(adaptyst::process_info::max_threads);
  in.processes[0].resident.resize(adaptyst::process_info::max_resident);
  CHECK(refusal(adaptyst::to_json(in)).empty());
  const auto refuse = [&in](auto change) {
    adaptyst::profile changed = in;
    change(changed);
    return refusal(adaptyst::to_json(changed));
  };
  CHECK(refuse([](adaptyst::profile& of) { of.ceilings->cpus = 0; }) ==
        "not a profile: /ceilings/cpus: expected a number greater than 0; found 0");
  CHECK(refuse([](adaptyst::profile& of) { of.ceilings->all_gflops = -3; }) ==
        "not a profile: /ceilings/all_gflops: expected a number greater than 0; found -3.0");
  CHECK(refuse([](adaptyst::profile& of) { of.regions[0].roofline->share = 0; }) ==
        "not a profile: /regions/0/roofline/share: expected a number greater than 0; found 0.0");
  CHECK_FALSE(refuse([](adaptyst::profile& of) { of.machines.emplace_back(); }).empty());
  CHECK_FALSE(refuse([](adaptyst::profile& of) { of.processes[0].thread_list.emplace_back(); }).empty());
  CHECK_FALSE(refuse([](adaptyst::profile& of) { of.processes[0].resident.emplace_back(); }).empty());
}

TEST_CASE("what is wrong is reported with its place") {
  struct damage {
    const char* pointer;
    json value;
    const char* reported;
  };
  const std::uint64_t most = ~std::uint64_t{0};
  const damage all[] = {
      {"/schema", 2, "/schema: expected 1, all that this version reads; found 2"},
      {"/extra", 5, "/extra: unknown key"},
      {"/engine", "magic", "/engine: expected ebpf, inline, off"},
      {"/engine", "ebpf | ", "/engine: expected ebpf, inline, off"},
      {"/mechanism", nullptr, "/mechanism: expected a text; found null"},
      {"/regions", json::object(), "/regions: expected an array; found object"},
      {"/regions/0/id", "FEDCBA9876543210", "/regions/0/id: expected 16 hexadecimal digits"},
      {"/regions/0/id", "fedcba987654321", "/regions/0/id: expected 16"},
      {"/regions/0/id", "", "/regions/0/id: expected 16"},
      {"/regions/0/path", json::array(), "/regions/0/path: expected from 1 to"},
      {"/regions/0/path", std::vector<std::string>(4098), "/regions/0/path: expected from 1 to"},
      {"/regions/0/path/1", 7, "/regions/0/path/1: expected a text; found 7"},
      {"/regions/0/site/line", 4294967296U, "/regions/0/site/line: expected at most 4294967295; found 4294967296"},
      {"/regions/0/kind", "metric", "/regions/0/kind: expected one of region, offload"},
      {"/regions/0/count", -1, "/regions/0/count: expected an integer"},
      {"/regions/0/count", 0.5, "/regions/0/count: expected an integer"},
      {"/regions/0/count", 1e19, "/regions/0/count: expected an integer"},
      {"/regions/0/total_ns", nullptr, "/regions/0/total_ns: expected a time, since there is a histogram; found null"},
      {"/regions/0/min_ns", 201, "/regions/0/min_ns: expected at most max_ns"},
      {"/regions/0/p90_ns", "x", "/regions/0/p90_ns: expected an integer"},
      {"/regions/0/histogram/0", json{1}, "/regions/0/histogram/0: expected a pair"},
      {"/regions/0/histogram/0/0", 584, "/regions/0/histogram/0/0: expected at most 583"},
      {"/regions/0/histogram/0/1", 0, "/regions/0/histogram/0/1: expected a count of at least 1"},
      {"/regions/0/histogram/0/1", most, "/regions/0/histogram/1/1: expected a sum within 64 bits"},
      {"/regions/0/attributes/a~1b~0", 5, "/regions/0/attributes/a~1b~0: expected an object; found 5"},
      {"/regions/0/attributes/bytes/sum", "x", "/regions/0/attributes/bytes/sum: expected a number"},
      {"/regions/0/overhead_ns", -1.0, "/regions/0/overhead_ns: expected a number of at least 0"},
      {"/devices/0/id", 1, "/devices/0/id: expected 0, its place in the list; found 1"},
      {"/devices/0/utilisation", 1.5, "/devices/0/utilisation: expected at most 1"},
      {"/regions/0/measured_on/1 of 0", 5,
       "/regions/0/measured_on/1 of 0: expected kernel, recorder or 1 of N as its key"},
      {"/regions/0/measured_on/1 of 64x", 5, "/regions/0/measured_on/1 of 64x: expected kernel, recorder or 1 of N"},
      {"/accounting/lost", json::array(), "/accounting/lost: expected an object; found array"},
      {"/process/pid", 9223372036854775808U, "/process/pid: expected at most 9223372036854775807"},
      {"/process/pid", 44, "/process: expected the first of \"processes\""},
      {"/process", nullptr, "/process: expected the first of"},
      {"/processes", json::array({json::object()}), "/processes: expected at least two processes"},
  };
  REQUIRE(refusal(adaptyst::to_json(whole())).empty());
  for (const damage& damaged : all) {
    const std::string message = refusal(with(damaged.pointer, damaged.value));
    CAPTURE(damaged.pointer, message);
    CHECK(message.find(std::string("not a profile: ") + damaged.reported) == 0);
  }
}

TEST_CASE("a reason for losses that only a later version knows is counted all the same") {
  json all = json::parse(adaptyst::to_json(whole()));
  all["accounting"]["lost"]["swallowed"] = 2;
  all["accounting"]["lost"]["mislaid"] = 3;
  const adaptyst::profile read = adaptyst::from_json(all.dump());
  CHECK(read.accounting.lost ==
        adaptyst::losses{{adaptyst::loss_reason::too_deep, 4}, {adaptyst::loss_reason::other, 5}});
  CHECK(adaptyst::to_table(read).find(": 5 other, 4 too_deep") != std::string::npos);
}

TEST_CASE("steps of an overhead budget come back, in the order of what they cost") {
  adaptyst::profile in = whole();
  in.regions[0].measured_on = {{{false, 1024}, 1}, {{false, 64}, 2}, {{true, 1}, 3}, {{false, 1}, 4}};
  const adaptyst::profile read = adaptyst::from_json(adaptyst::to_json(in));
  CHECK(read.regions[0].measured_on == in.regions[0].measured_on);
  std::vector<std::string> words;
  for (const auto& [step, time_ns] : read.regions[0].measured_on) words.push_back(to_string(step));
  CHECK(words == std::vector<std::string>{"kernel", "recorder", "1 of 64", "1 of 1024"});
}

TEST_CASE("a missing key is named, and so is one that stands there twice") {
  json all = json::parse(adaptyst::to_json(whole()));
  all["regions"][0]["site"].erase("line");
  CHECK(refusal(all.dump()) == "not a profile: /regions/0/site: \"line\" is missing");
  std::string text = adaptyst::to_json(whole());
  text.insert(text.find("\"line\""), "\"file\": \"b\", ");
  CHECK(refusal(text) == "not a profile: /regions/0/site/file: this key occurs twice");
}

TEST_CASE("what is no JSON is reported with the byte") {
  CHECK(refusal("").find("not a profile: byte 1: syntax error while parsing value - unexpected end of input") == 0);
  const std::string text = adaptyst::to_json(whole());
  const std::size_t comma = text.find(',');
  std::string changed = text;
  changed[comma] = ';';
  CHECK(refusal(changed).find("not a profile: byte " + std::to_string(comma + 1) + ": syntax error") == 0);
  CHECK(refusal("{\"schema\": 1e999}").find("not a profile: ") == 0);
  CHECK(refusal("[5] ") == "not a profile: the whole: expected an object; found array");
  CHECK(refusal(text + "x").find("not a profile: byte ") == 0);
  CHECK(refusal("\"\xff\"").find("not a profile: byte 2: ") == 0);
}

TEST_CASE("messages hold nothing that disturbs a terminal, and are short") {
  for (const char* const place : {"/regions/0/kind", "/regions/0/id", "/engine"}) {
    const std::string message = refusal(with(place, "\x1b[31m" + std::string(100000, 'x')));
    CHECK(message.find('\x1b') == std::string::npos);
    CHECK(message.size() < 300);
  }
  const std::string message = refusal(with("/\x1b]0;title" + std::string(100000, 'x'), 1));
  CHECK(message.find('\x1b') == std::string::npos);
  CHECK(message.size() < 300);
}

TEST_CASE("nesting without end is refused before it costs memory") {
  CHECK(refusal(std::string(10'000'000, '[')) == "not a profile: nested deeper than any profile is");
}

TEST_CASE("no input does harm: it is refused, or it is a profile that can be merged, printed and written") {
  const std::string text = adaptyst::to_json(whole());
  for (std::size_t length = 0; length + 1 < text.size(); ++length)
    REQUIRE_FALSE(refusal(text.substr(0, length)).empty());
  samples::generator random(1);
  unsigned taken = 0;
  for (int round = 0; round != random_rounds(5000); ++round) {
    std::string changed = text;
    for (std::uint64_t changes = 1 + random.below(3); changes != 0; --changes) {
      const std::size_t at = random.below(changed.size());
      switch (random.below(4)) {
        case 0: changed[at] = static_cast<char>(random.below(256)); break;
        case 1: changed[at] = "0123456789-.e\"[]{},:"[random.below(20)]; break;
        case 2: changed.erase(at, 1 + random.below(20)); break;
        default: changed.insert(at, changed.substr(random.below(changed.size()), random.below(30)));
      }
    }
    if (!refusal(changed).empty()) continue;
    ++taken;
    adaptyst::profile read = adaptyst::from_json(changed);
    adaptyst::merge(read, whole());
    CAPTURE(changed);
    REQUIRE_FALSE(adaptyst::to_table(read).empty());
    check_round_trip(read);
  }
  CHECK(taken > random_rounds(25U));
}

TEST_CASE("a path may be as long as a thread can nest") {
  adaptyst::profile in = whole();
  in.regions[0].path.assign(4097, "x");
  adaptyst::table_options all;
  all.rows = all.depth = 0;
  CHECK(adaptyst::to_table(adaptyst::from_json(adaptyst::to_json(in)), all).size() > 4097);
}

TEST_CASE("an error about a file has the file as its subject, and a hint of its own") {
  const std::string name = "unit_from_json.not_a_profile.json";
  std::fclose(std::fopen(name.c_str(), "w"));
  for (const std::string& file : {name, std::string("/nowhere/at all.json")}) {
    try {
      adaptyst::read_profile(file);
      FAIL("it has been read");
    } catch (const adaptyst::error& refused) {
      CHECK(refused.subject() == file);
      CHECK(refused.summary().find("hint") == std::string::npos);
      CHECK(refused.hint().find("output=FILE.json") != std::string::npos);
    }
  }
  std::remove(name.c_str());
}

TEST_CASE("files are read and written, and those that cannot be are named") {
  const auto message = [](const auto& attempt) -> std::string {
    try {
      attempt();
    } catch (const std::runtime_error& error) {
      return error.what();
    }
    return "";
  };
  CHECK(message([] {
          adaptyst::read_profile("/nowhere/at all.json");
        }).find("cannot read /nowhere/at all.json: No such file or directory (ENOENT)\nhint: ") == 0);
  CHECK(message([] { adaptyst::read_profile("/"); }).find("cannot read /: Is a directory (EISDIR)") == 0);
  CHECK(message([] { adaptyst::read_profile("/dev/null"); }).find("/dev/null: not a profile: byte 1: ") == 0);
  CHECK(message([] { adaptyst::write_profile("/nowhere/a.json", {}); }) ==
        "cannot write the profile to /nowhere/a.json: No such file or directory (ENOENT)\nhint: choose another place");
  const std::string name = "unit_from_json.profile.json";
  adaptyst::write_profile(name, whole());
  CHECK(adaptyst::to_json(adaptyst::read_profile(name)) == adaptyst::to_json(whole()));
  std::remove(name.c_str());
}
