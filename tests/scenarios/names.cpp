// Names, payloads, labels and metrics of markers, and more call paths than there is room for.
#include <adaptyst/metric.hpp>
#include <adaptyst/payload.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "collecting.hpp"

namespace {

enum class scheme { upwind = 1, weno = 5 };

struct sweep {
  std::uint64_t bytes;
  double flops;
  int cells;
};

struct labelled {
  std::string_view solver;
  scheme order;
  float tolerance;
};

struct listed {
  std::uint64_t bytes;
  int cells;
  const char* solver;
};
ADAPTYST_FIELDS(listed, cells, solver, bytes);

// Neither an aggregate, nor all its members what a payload may have.
class mesh {
 public:
  explicit mesh(std::size_t cells) : cells_(cells), levels_(3) {}
  ADAPTYST_FIELDS(mesh, levels_, volume_);

 private:
  std::vector<int> cells_;
  unsigned levels_ : 4;
  double volume_ = 0.5;
};

template <class T>
struct generic_list {
  T residual;
  ADAPTYST_FIELDS(generic_list, residual);
};

int evaluated = 0;
sweep counted_payload() {
  ++evaluated;
  return {8, 2.5, 1};
}

}  // namespace

TEST_CASE("names made at run time are equal when their bytes are, whatever the bytes") {
  adaptyst::collector collector(support::options());
  const std::string with_nul("a\0b", 3);
  for (int i = 0; i != 3; ++i) {
    for (const std::string& name : {std::string("dynamic"), std::string("\x01\xff\n"), with_nul, std::string()}) {
      ADAPTYST_REGION(std::string_view(name));
    }
    const std::string longer(500, 'x');
    ADAPTYST_REGION(longer);
    ADAPTYST_REGION("literal\0with nul");
  }
  const adaptyst::profile profile = collector.stop();
  support::check_account(profile);
  CHECK(support::find(profile, {"dynamic"}).count == 3);
  CHECK(support::find(profile, {"\x01\xff\n"}).count == 3);
  CHECK(support::find(profile, {with_nul}).count == 3);
  CHECK(support::find(profile, {""}).count == 3);
  CHECK(support::find(profile, {std::string(127, 'x')}).count == 3);
  CHECK(support::find(profile, {std::string(127, 'x'), std::string("literal\0with nul", 16)}).count == 3);
}

TEST_CASE("numbers of payloads are summed per path, and not evaluated while nothing listens") {
  evaluated = 0;
  for (int i = 0; i != 10; ++i) {
    ADAPTYST_REGION("sweep", counted_payload());
  }
  CHECK(evaluated == 0);
  adaptyst::collector collector(support::options());
  for (int i = 1; i <= 100; ++i) {
    ADAPTYST_REGION("sweep", sweep{static_cast<std::uint64_t>(i), 0.5, -i});
  }
  const adaptyst::profile profile = collector.stop();
  support::check_account(profile);
  const adaptyst::region& row = support::find(profile, {"sweep"});
  REQUIRE(row.attributes.size() == 3);
  const adaptyst::attribute& bytes = row.attributes.at("bytes");
  CHECK(bytes.count == 100);
  CHECK(bytes.sum == 5050);
  CHECK(bytes.min == 1);
  CHECK(bytes.max == 100);
  CHECK(row.attributes.at("flops").sum == 50);
#if __cplusplus >= 202002L && !(defined(__clang__) && __clang_major__ < 18)
  CHECK(row.attributes.at("cells").sum == -5050);
#else
  CHECK(row.attributes.at("member_3").sum == -5050);
#endif
}

TEST_CASE("members in a list have their names whatever the compiler knows") {
  adaptyst::collector collector(support::options());
  for (int i = 1; i <= 4; ++i) {
    ADAPTYST_REGION("listed", listed{16, i, "cg"});
    ADAPTYST_REGION("mesh", mesh(100));
    ADAPTYST_REGION("generic", generic_list<float>{0.25F});
    struct local_list {
      int iterations;
      ADAPTYST_FIELDS(local_list, iterations);
    };
    ADAPTYST_REGION("local", local_list{i});
  }
  const adaptyst::profile profile = collector.stop();
  support::check_account(profile);
  const adaptyst::region& row = support::find(profile, {"listed [solver=cg]"});
  REQUIRE(row.attributes.size() == 2);
  CHECK(row.attributes.at("cells").sum == 10);
  CHECK(row.attributes.at("bytes").sum == 64);
  const adaptyst::region& below = support::find(profile, {"listed [solver=cg]", "mesh"});
  REQUIRE(below.attributes.size() == 2);
  CHECK(below.attributes.at("levels_").sum == 12);
  CHECK(below.attributes.at("volume_").sum == 2);
  CHECK(support::find(profile, {"listed [solver=cg]", "mesh", "generic"}).attributes.at("residual").sum == 1);
  CHECK(support::find(profile, {"listed [solver=cg]", "mesh", "generic", "local"}).attributes.at("iterations").sum ==
        10);
}

TEST_CASE("texts and enumerations of a payload are labels with rows of their own") {
  adaptyst::collector collector(support::options());
  for (int i = 0; i != 6; ++i) {
    ADAPTYST_REGION("solve", labelled{i % 2 == 0 ? "cg" : "gmres", scheme::weno, 0.25F});
  }
  const adaptyst::profile profile = collector.stop();
  support::check_account(profile);
  REQUIRE(profile.regions.size() == 2);
  for (const adaptyst::region& row : profile.regions) {
    CHECK(row.count == 3);
    CHECK(row.path.back().rfind("solve [", 0) == 0);
    CHECK(row.path.back().find("=5") != std::string::npos);
    CHECK(row.attributes.begin()->second.sum == 0.75);
  }
}

TEST_CASE("metrics belong to the open region, marks are counted") {
  adaptyst::collector collector(support::options());
  for (int i = 0; i != 4; ++i) {
    ADAPTYST_REGION("step");
    ADAPTYST_METRIC("metric residual", 1.0 / (1 << i));
    ADAPTYST_METRIC("metric iterations", i);
    if (i == 2) ADAPTYST_MARK("restart");
  }
  const adaptyst::profile profile = collector.stop();
  support::check_account(profile);
  const adaptyst::region& step = support::find(profile, {"step"});
  CHECK(step.attributes.at("metric residual").sum == 1.875);
  CHECK(step.attributes.at("metric residual").min == 0.125);
  CHECK(step.attributes.at("metric iterations").max == 3);
  CHECK(support::find(profile, {"step", "restart"}).count == 1);
  CHECK(support::find(profile, {"step", "restart"}).kind == adaptyst::region_kind::instant_event);
}

TEST_CASE("more call paths than a thread has rows for are counted as lost", "[one_thread]") {
  if (support::engine() != "inline") return;  // the kernel has room for fewer
  adaptyst::collector collector(support::options());
  constexpr std::uint64_t paths = 70'000;
  constexpr std::uint64_t rows = 65'536;
  // Each of 300 below each of as many: the process has no markers for as many names.
  for (std::uint64_t i = 0; i != paths; ++i) {
    ADAPTYST_REGION("outer " + std::to_string(i / 300));
    ADAPTYST_REGION("inner " + std::to_string(i % 300));
  }
  const adaptyst::profile profile = collector.stop();
  support::check_account(profile);
  CHECK(profile.accounting.begun == 2 * paths);
  CHECK(profile.regions.size() == rows);
  const std::uint64_t lost = support::lost(profile, adaptyst::loss_reason::rows_full);
  CHECK(profile.accounting.ended == 2 * paths - lost);
  CHECK(lost >= paths - rows);
}

TEST_CASE("thousands of call paths, in any order and again and again, keep their rows apart", "[one_thread]") {
  if (support::engine() != "inline") return;  // the kernel has room for fewer
  adaptyst::collector collector(support::options());
  constexpr std::uint64_t paths = 5'000;
  for (std::uint64_t i = 0; i != 4 * paths; ++i) {
    const std::uint64_t number = i * 7'919 % paths;
    ADAPTYST_REGION("number " + std::to_string(number));
    if (number % 2 == 0) ADAPTYST_METRIC("metric number " + std::to_string(number), static_cast<double>(number));
  }
  const adaptyst::profile profile = collector.stop();
  support::check_account(profile);
  CHECK(profile.accounting.lost.empty());
  CHECK(profile.accounting.ended == 6 * paths);
  REQUIRE(profile.regions.size() == paths);
  for (const adaptyst::region& row : profile.regions) {
    CAPTURE(row.path.back());
    CHECK(row.count == 4);
    CHECK(row.durations.count() == 4);
    const std::string number = row.path.back().substr(7);
    if (std::stoul(number) % 2 == 0) CHECK(row.attributes.at("metric number " + number).sum == 4 * std::stod(number));
    else CHECK(row.attributes.empty());
  }
}
