// Regions inside of regions: the tree that they make, its depth, and every way out of a scope.
#include <adaptyst/region.hpp>
#include <map>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "collecting.hpp"
#include "sanitized.hpp"

namespace {

void spin(int turns) {
  for (volatile int turn = 0; turn < turns; turn = turn + 1) {}
}

void descend(int levels) {
  ADAPTYST_REGION("level");
  if (levels > 1) descend(levels - 1);
}

void leave_early(bool early) {
  ADAPTYST_REGION("early");
  if (early) return;
  ADAPTYST_REGION("late");
  spin(10);
}

void leave_by_exception() {
  ADAPTYST_REGION("thrower");
  throw std::runtime_error("out");
}

void named_by_function() {
  ADAPTYST_FUNCTION();
  spin(10);
}

template <class T>
void templated() {
  ADAPTYST_REGION("templated");
  spin(static_cast<int>(sizeof(T)));
}

void begin_step() { ADAPTYST_BEGIN("step"); }
void end_step() { ADAPTYST_END(); }

inline void inlined() { ADAPTYST_REGION("inlined"); }

// Regions at random, one in another and one behind the other, and how often there were which.
class wanderer {
 public:
  using path = std::vector<std::string>;
  void walk(int depth) {
    while (random_() % 4 != 0) step(depth);
  }
  const std::map<path, std::uint64_t>& counts() const { return counts_; }

 private:
  void step(int depth) {
    switch (random_() % 3) {
      case 0: {
        ADAPTYST_REGION("a");
        return in("a", depth);
      }
      case 1: {
        ADAPTYST_REGION("b");
        return in("b", depth);
      }
      default: {
        ADAPTYST_REGION("c");
        return in("c", depth);
      }
    }
  }
  void in(const char* name, int depth) {
    at_.emplace_back(name);
    ++counts_[at_];
    if (depth != 0) walk(depth - 1);
    at_.pop_back();
  }

  std::minstd_rand random_;
  path at_;
  std::map<path, std::uint64_t> counts_;
};

}  // namespace

TEST_CASE("a pair begins and ends in different functions, and regions nest in it") {
  adaptyst::collector collector(support::options());
  const std::string name = "named at run time";
  for (int times = 0; times != 100; ++times) {
    begin_step();
    { ADAPTYST_REGION("in step"); }
    ADAPTYST_BEGIN(name);
    ADAPTYST_END();
    end_step();
  }
  ADAPTYST_END();  // of nothing
  const adaptyst::profile profile = collector.stop();
  support::check_account(profile);
  CHECK(profile.regions.size() == 3);
  CHECK(profile.accounting.unmatched == 1);
  CHECK(support::find(profile, {"step"}).count == 100);
  CHECK(support::find(profile, {"step"}).site.function == "begin_step");
  CHECK(support::find(profile, {"step", "in step"}).count == 100);
  CHECK(support::find(profile, {"step", "named at run time"}).count == 100);
}

TEST_CASE("whatever comes behind whatever else is where it was") {
  wanderer walker;
  {
    adaptyst::collector earlier(support::options());
    wanderer other;
    for (int times = 0; times != 100; ++times) other.walk(3);
  }
  adaptyst::collector collector(support::options());
  for (int times = 0; times != 500; ++times) walker.walk(3);
  const adaptyst::profile profile = collector.stop();
  support::check_account(profile);
  std::map<wanderer::path, std::uint64_t> found;
  for (const adaptyst::region& region : profile.regions) found[region.path] = region.count;
  CHECK(found == walker.counts());
  CHECK(found.size() == 3 + 9 + 27 + 81);
}

TEST_CASE("nested regions make a tree, and self time is what the nested ones leave") {
  adaptyst::collector collector(support::options());
  for (int i = 0; i != 10; ++i) {
    ADAPTYST_REGION("outer");
    spin(1000);
    for (int k = 0; k != 3; ++k) {
      ADAPTYST_REGION("inner");
      spin(1000);
    }
  }
  const adaptyst::profile profile = collector.stop();
  support::check_account(profile);
  REQUIRE(profile.regions.size() == 2);
  const adaptyst::region& outer = support::find(profile, {"outer"});
  const adaptyst::region& inner = support::find(profile, {"outer", "inner"});
  CHECK(outer.count == 10);
  CHECK(inner.count == 30);
  CHECK(inner.parent == outer.id);
  CHECK(inner.self_ns == inner.total_ns);
  CHECK(outer.self_ns == outer.total_ns - inner.total_ns);
  CHECK(outer.min_ns <= *outer.quantile_ns(0.5));
  CHECK(*outer.quantile_ns(0.5) <= *outer.quantile_ns(0.99));
  CHECK(*outer.quantile_ns(0.99) <= outer.max_ns);
  CHECK(outer.total_ns >= 10 * outer.min_ns);
  CHECK(outer.total_ns <= 10 * outer.max_ns);
  CHECK(outer.threads == 1);
  CHECK(outer.site.function == static_cast<const char*>(__func__));
  CHECK(outer.site.file.find("nesting.cpp") != std::string::npos);
  CHECK(outer.site.line > 40);
  CHECK(outer.kind == adaptyst::region_kind::region);
}

TEST_CASE("a thousand levels are kept apart; what is too deep is counted") {
  for (const int levels : {1000, 5000}) {
#ifdef ADAPTYST_TEST_SANITIZED  // AddressSanitizer has this limit in pairs of C, and takes 20 s for each such profile
    if (levels > 4096) break;
#endif
    adaptyst::collector collector(support::options());
    descend(levels);
    descend(levels);
    const adaptyst::profile profile = collector.stop();
    support::check_account(profile);
    const int kept = std::min(levels, 4096);
    REQUIRE(profile.regions.size() == static_cast<std::size_t>(kept));
    CHECK(support::find(profile, std::vector<std::string>(static_cast<std::size_t>(kept), "level")).count == 2);
    CHECK(support::lost(profile, adaptyst::loss_reason::too_deep) == 2 * static_cast<std::uint64_t>(levels - kept));
  }
}

TEST_CASE("regions end on every way out") {
  adaptyst::collector collector(support::options());
  leave_early(true);
  leave_early(false);
  for (int i = 0; i != 5; ++i) CHECK_THROWS_AS(leave_by_exception(), std::runtime_error);
  named_by_function();
  templated<char>();
  templated<double>();
  inlined();
  const adaptyst::profile profile = collector.stop();
  support::check_account(profile);
  CHECK(profile.accounting.open == 0);
  CHECK(support::find(profile, {"early"}).count == 2);
  CHECK(support::find(profile, {"early", "late"}).count == 1);
  CHECK(support::find(profile, {"thrower"}).count == 5);
  CHECK(support::find(profile, {"named_by_function"}).count == 1);
  // Two instantiations are one marker in the source.
  CHECK(support::find(profile, {"templated"}).count == 2);
  CHECK(support::find(profile, {"inlined"}).count == 1);
}
