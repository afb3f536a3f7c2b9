// The option string: what it may say, what is refused, and how file names are made.
#include "support/options.hpp"

#include <unistd.h>

#include <climits>
#include <cstdlib>

#include "catch.hpp"
#include "support/error.hpp"

namespace {

using adaptyst::lib::apply;
using adaptyst::lib::engine_choice;
using adaptyst::lib::expand;
using adaptyst::lib::options;
using adaptyst::lib::report_choice;

bool same(const options& a, const options& b) {
  return a.engine == b.engine && a.report == b.report && a.output == b.output && a.functions == b.functions &&
         a.through_exceptions == b.through_exceptions && a.timeline == b.timeline && a.trace_events == b.trace_events &&
         a.folded == b.folded && a.speedscope == b.speedscope && a.sample_frequency == b.sample_frequency &&
         a.overhead == b.overhead;
}

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

// What applying `text` is refused with, to options that must stay as they were.
std::string refusal(const std::string& text) {
  options before;
  before.engine = engine_choice::inlined;
  before.report = report_choice::none;
  before.output = "kept.json";
  before.timeline = "kept.trace.json";
  before.trace_events = 128;
  before.overhead = 0.3;
  before.functions = {"mpi"};
  before.through_exceptions = true;
  options changed = before;
  std::string message;
  try {
    apply(changed, text, "the test");
  } catch (const adaptyst::lib::error& refused) {
    message = refused.what();
  }
  CAPTURE(text);
  CHECK(same(changed, before));
  CHECK_FALSE(message.empty());
  return message;
}

// The variables that MPI launchers set are hidden while one of these lives.
class environment {
 public:
  environment() {
    for (const char* const name : names) unsetenv(name);
  }
  ~environment() {
    for (const char* const name : names) unsetenv(name);
  }
  static constexpr const char* names[] = {"OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK", "SLURM_PROCID"};
};

}  // namespace

TEST_CASE("nothing said, the defaults hold") {
  options chosen;
  apply(chosen, "", "the test");
  CHECK(chosen.engine == engine_choice::automatic);
  CHECK(chosen.report == report_choice::table);
  CHECK(chosen.output.empty());
}

TEST_CASE("every documented value is understood") {
  const std::pair<const char*, engine_choice> engines[] = {{"engine=auto", engine_choice::automatic},
                                                           {"engine=ebpf", engine_choice::ebpf},
                                                           {"engine=inline", engine_choice::inlined},
                                                           {"engine=off", engine_choice::off}};
  for (const auto& [text, meant] : engines) {
    options chosen;
    chosen.engine = engine_choice::off;
    chosen.report = report_choice::none;
    if (meant == engine_choice::off) chosen.engine = engine_choice::automatic;
    apply(chosen, text, "the test");
    CAPTURE(text);
    CHECK(chosen.engine == meant);
    CHECK(chosen.report == report_choice::none);
  }
  options chosen;
  apply(chosen, "report=none", "the test");
  CHECK(chosen.report == report_choice::none);
  apply(chosen, "report=table", "the test");
  CHECK(chosen.report == report_choice::table);
  apply(chosen, "output=/some/where/%h.%p.%r.%%.json", "the test");
  CHECK(chosen.output == "/some/where/%h.%p.%r.%%.json");
}

TEST_CASE("an overhead is a percentage, or none") {
  options chosen;
  CHECK(chosen.overhead == Approx(0.02));
  const std::pair<const char*, double> shares[] = {
      {"2%", 0.02}, {"0.5%", 0.005}, {"100%", 1}, {"0.1%", 0.001}, {"none", 0}};
  for (const auto& [text, share] : shares) {
    apply(chosen, std::string("overhead=") + text, "the test");
    CHECK(chosen.overhead == Approx(share));
  }
  for (const char* const wrong :
       {"", "2", "%", "-1%", "0%", "0.05%", "101%", "nan%", "inf%", "2%%", "2 %", "1e400%", "None", "two%"})
    CHECK(contains(refusal(std::string("overhead=") + wrong), "from 0.1% to 100%"));
}

TEST_CASE("pairs are joined by commas, and the last word counts") {
  options chosen;
  apply(chosen, "engine=ebpf,report=none,output=a=b.json,engine=inline", "the test");
  CHECK(chosen.engine == engine_choice::inlined);
  CHECK(chosen.report == report_choice::none);
  CHECK(chosen.output == "a=b.json");
}

TEST_CASE("a second string changes only what it names") {
  options chosen;
  apply(chosen, "engine=inline,output=a.json", "the test");
  apply(chosen, "report=none", "the test");
  CHECK(chosen.engine == engine_choice::inlined);
  CHECK(chosen.output == "a.json");
}

TEST_CASE("what is not known is refused by name, with what is, and where it came from") {
  const struct {
    const char* text;
    const char* named;
  } cases[] = {{"colour=red", "'colour'"},
               {"Engine=auto", "'Engine'"},
               {"engine =auto", "'engine '"},
               {"engine=fast", "'fast'"},
               {"engine=", "''"},
               {"engine=auto ", "'auto '"},
               {"report=json", "'json'"},
               {"report=", "''"},
               {"engine", "'engine'"},
               {"=auto", "''"},
               {"=", "''"},
               {",", "''"},
               {"engine=auto,,report=none", "''"},
               {"report=none,colour=red", "'colour'"},
               {"colour=red,engine=auto", "'colour'"},
               {"output=", "''"},
               {"output=.json", "'.json'"},
               {"output=profile.txt", "'profile.txt'"},
               {"output=profile.json.gz", "'profile.json.gz'"},
               {"output=a,b.json", "'a'"},
               {"output=%x.json", "%x"},
               {"output=%.json", "%."}};
  for (const auto& [text, named] : cases) {
    const std::string message = refusal(text);
    CAPTURE(text, message);
    CHECK(contains(message, named));
    CHECK(contains(message, "in the test"));
    CHECK(contains(message, "\nhint: "));
    for (const char* const known :
         {"engine=auto|ebpf|inline|off", "report=table|none", "output=FILE.json", "%p", "%r", "%h"})
      CHECK(contains(message, known));
  }
}

TEST_CASE("a value that is refused is refused with its key") {
  for (const char* const text : {"engine=fast", "report=json", "output=profile.txt", "output=%x.json"}) {
    const std::string message = refusal(text);
    const std::string key = std::string(text).substr(0, std::string(text).find('='));
    CAPTURE(message);
    CHECK(contains(message.substr(0, message.find('\n')), key));
  }
}

TEST_CASE("any bytes are refused or taken, and nothing else happens") {
  for (int byte = 0; byte != 256; ++byte)
    for (const char* const around : {"", "engine=", "output=%", "output=a"}) {
      const std::string text = around + std::string(1, static_cast<char>(byte)) + ".json";
      options chosen;
      try {
        apply(chosen, text, "the test");
        CHECK(std::string(around).rfind("output", 0) == 0);
      } catch (const adaptyst::lib::error&) {
        CHECK(chosen.output.empty());
      }
    }
}

TEST_CASE("%p is the process, %h the host, %% a per cent sign") {
  char host[HOST_NAME_MAX + 1] = {};
  REQUIRE(gethostname(host, sizeof host - 1) == 0);
  CHECK(expand("plain.json") == "plain.json");
  CHECK(expand("%p.json") == std::to_string(getpid()) + ".json");
  CHECK(expand("%h.json") == std::string(host) + ".json");
  CHECK(expand("100%%.json") == "100%.json");
  CHECK(expand("%%p.json") == "%p.json");
  CHECK(expand("%p%p.json") == std::to_string(getpid()) + std::to_string(getpid()) + ".json");
}

TEST_CASE("%r is the rank that the launcher says, and 0 without one") {
  const environment clean;
  CHECK(expand("%r.json") == "0.json");
  for (const char* const name : environment::names) {
    setenv(name, "17", 1);
    CAPTURE(name);
    CHECK(expand("%r.json") == "17.json");
    unsetenv(name);
  }
}

TEST_CASE("functions are a list, and their names may have commas") {
  using names = std::vector<std::string>;
  options chosen;
  apply(chosen, "functions=mpi;./solver:flux(int, double),report=none", "the test");
  CHECK(chosen.functions == names{"mpi", "./solver:flux(int, double)"});
  CHECK(chosen.report == report_choice::none);
  CHECK_FALSE(chosen.through_exceptions);
  apply(chosen, "report=table,functions=./solver:sum<a, b>(*),through_exceptions=yes", "the test");
  CHECK(chosen.functions == names{"./solver:sum<a, b>(*)"});
  CHECK(chosen.through_exceptions);
  apply(chosen, "functions=", "the test");
  CHECK(chosen.functions.empty());
  CHECK(contains(refusal("functions=mpi;fortran"), "no set of functions is called 'fortran'"));
  CHECK(contains(refusal("functions=fortran"), "known are mpi, opencl"));
  CHECK(contains(refusal("functions=:MPI_*"), "the file is missing"));
  CHECK(contains(refusal("through_exceptions=perhaps"), "perhaps"));
}

TEST_CASE("a timeline is an output of its own, beside the profile's") {
  options chosen;
  CHECK(chosen.timeline.empty());
  apply(chosen, "output=a.json;run%p.trace.json,trace_events=1000", "the test");
  CHECK(chosen.output == "a.json");
  CHECK(chosen.timeline == "run%p.trace.json");
  CHECK(chosen.trace_events == 1024);
  apply(chosen, "output=b.trace.json", "the test");  // what is said later holds
  CHECK(chosen.output.empty());
  CHECK(chosen.timeline == "b.trace.json");
  CHECK(contains(refusal("output=a.json;b.json"), "second output"));
  CHECK(contains(refusal("output=a.json;b.txt"), "b.txt"));
  CHECK(contains(refusal("output=%q.trace.json"), "placeholder"));
  for (const char* const wrong : {"63", "16777217", "many", "", "1e3", "-1", "100 "})
    CHECK(contains(refusal(std::string("trace_events=") + wrong), "from 64 to 16777216"));
}

TEST_CASE("stacks are outputs of their own, and turn samples on") {
  options chosen;
  CHECK_FALSE(chosen.wants_samples());
  CHECK(chosen.sample_frequency == 997);
  apply(chosen, "output=a.json;run%p.folded,sample_frequency=10000", "the test");
  CHECK(chosen.output == "a.json");
  CHECK(chosen.folded == "run%p.folded");
  CHECK(chosen.wants_samples());
  CHECK(chosen.sample_frequency == 10000);
  apply(chosen, "output=b.speedscope.json", "the test");  // what is said later holds
  CHECK(chosen.folded.empty());
  CHECK(chosen.output.empty());
  CHECK(chosen.speedscope == "b.speedscope.json");
  CHECK(chosen.wants_samples());
  options other;
  apply(other, "context=samples", "the test");
  CHECK(other.wants_samples());
  CHECK(other.context.cpu);
  CHECK(contains(refusal("output=a.folded;b.folded"), "second output"));
  CHECK(contains(refusal("output=.folded"), "must end in"));
  for (const char* const wrong : {"0", "10001", "many", "", "-1", "9.5"})
    CHECK(contains(refusal(std::string("sample_frequency=") + wrong), "from 1 to 10000"));
}

TEST_CASE("context is a list with commas, or none") {
  const auto after = [](const char* text) {
    options chosen;
    apply(chosen, text, "the test");
    return chosen;
  };
  CHECK(after("").context.cpu);
  CHECK_FALSE(after("").context.asked);
  const options both = after("context=cpu,faults,engine=inline");
  CHECK(both.context.cpu);
  CHECK(both.context.faults);
  CHECK(both.context.asked);
  CHECK(both.engine == engine_choice::inlined);
  CHECK_FALSE(after("context=cpu").context.faults);
  CHECK(after("context=faults").context.cpu);
  CHECK_FALSE(after("context=none").context.cpu);
  CHECK(after("context=counters").context.counters);
  CHECK(after("context=counters").context.cpu);
  CHECK(contains(refusal("context=cpu,weather"), "unknown context 'weather'"));
  CHECK(contains(refusal("context="), "cpu, faults"));
}
