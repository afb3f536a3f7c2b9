// Ceilings of a machine: what is made of repetitions, what a file keeps, and which files are refused.
#include <adaptyst/detail/error.hpp>
#include <string>

#include "catch.hpp"
#include "discover/machine.hpp"
#include "model/measured_ceilings.hpp"
#include "report/forms.hpp"
#include "session/ceilings.hpp"

namespace {

using namespace adaptyst::lib;

measured_ceilings small_machine() {
  const repeated_rate rate = summarise({3, 4, 1});
  return {"node1",
          "a model",
          "2026-11-25T01:00:00Z",
          2,
          "avx2 fma",
          4096,
          1.5,
          {rate, rate, summarise({8}), 64},
          {rate, rate, rate, 64}};
}

TEST_CASE("the ceiling is the best repetition; half of them a tenth slower were disturbed") {
  const repeated_rate rate = summarise({3, 4, 1});
  CHECK(rate.best == 4);
  CHECK(rate.median == 3);
  CHECK(rate.worst == 1);
  CHECK(rate.spread() == Approx(0.75));
  CHECK(rate.is_disturbed());
  CHECK_FALSE(summarise({10, 9.5, 1}).is_disturbed());
  CHECK(summarise({1, 2}).median == 1.5);
  CHECK(summarise({}).count == 0);
}

TEST_CASE("a file keeps ceilings, and a damaged one is refused") {
  const std::string text = to_json(small_machine());
  const measured_ceilings again = ceilings_from_json(text);
  CHECK(to_json(again) == text);
  CHECK(choose(again, adaptyst::flop_precision::single_precision).one_gflops == 8);
  CHECK(choose(again, adaptyst::flop_precision::double_precision).one_gflops == 4);
  CHECK_THROWS_AS(ceilings_from_json(text.substr(0, text.size() / 2)), adaptyst::error);
  CHECK_THROWS_AS(ceilings_from_json("{}"), adaptyst::error);
  for (const auto& [good, bad] : {std::pair{"\"schema\": 1", "\"schema\": 2"}, std::pair{"\"cpus\": 2", "\"cpus\": 0"},
                                  std::pair{"\"best\": 4.0", "\"best\": 0.0"}}) {
    std::string wrong = text;
    wrong.replace(wrong.find(good), std::string(good).size(), bad);
    CHECK_THROWS_AS(ceilings_from_json(wrong), adaptyst::error);
  }
  CHECK(find_mismatch(again, "node1", "a model").empty());
  CHECK(find_mismatch(again, "node1", "").empty());
  CHECK_FALSE(find_mismatch(again, "node2", "").empty());
  CHECK_FALSE(find_mismatch(again, "node1", "another").empty());
  CHECK_FALSE(find_mismatch(again, "", "").empty());
}

TEST_CASE("a processor has a name on x86 and on Arm") {
  CHECK(find_cpu_model("processor\t: 0\nmodel\t\t: 85\nmodel name\t: Some CPU @ 2 GHz\n") == "Some CPU @ 2 GHz");
  CHECK(find_cpu_model("CPU implementer\t: 0x41\nCPU part\t: 0xd40\n") == "implementer 0x41, part 0xd40");
  CHECK(find_cpu_model("").empty());
}

TEST_CASE("ceilings are measured, whatever they are") {
  ceiling_settings brief;
  brief.max_repetitions = brief.min_repetitions = 1;
  brief.seconds_of_kernel = 0.001;
  brief.max_array_bytes = 1 << 20;
  const measured_ceilings found = measure_ceilings(brief);
  CHECK(to_json(ceilings_from_json(to_json(found))) == to_json(found));
  CHECK(found.one_thread.array_bytes == 1 << 20);
}

}  // namespace
