// The option string: what it may say, what is left out of it, and how it is written.
#include "support/options.hpp"

#include <string>

#include "catch.hpp"
#include "support/error.hpp"
#include "support/option_table.hpp"

namespace {

using adaptyst::engine_choice;
using adaptyst::error;
using adaptyst::options;
using adaptyst::output_form;
using adaptyst::report_choice;
using adaptyst::to_string;
using adaptyst::lib::apply;

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

options after(const std::string& text) {
  options chosen;
  const std::vector<error> left_out = apply(chosen, text, "the test");
  CAPTURE(text);
  CHECK(left_out.empty());
  return chosen;
}

// All that is told of `text`, which has one thing wrong with it. The rest of it holds, and so does what was there
// before.
std::string complaint_on(const std::string& text) {
  const std::string kept =
      "engine=inline,report=none,output=kept.json;kept.trace.json,overhead=30%,context=cpu,trace_events=128,"
      "functions=mpi,may_crash_on_exception=yes";
  options changed = after(kept);
  const std::vector<error> left_out = apply(changed, text + ",single_stepped=yes", "the test");
  CAPTURE(text, to_string(changed));
  CHECK(to_string(changed) == kept + ",single_stepped=yes");
  REQUIRE(left_out.size() == 1);
  CHECK(contains(left_out.front().summary(), " in the test: ignored"));
  CHECK_FALSE(left_out.front().hint().empty());
  return left_out.front().what();
}

}  // namespace

TEST_CASE("nothing said, the defaults hold") {
  const options chosen = after("");
  CHECK(chosen.engine == engine_choice::automatic);
  CHECK(chosen.report == report_choice::table);
  CHECK(chosen.outputs.empty());
  CHECK(chosen.overhead == Approx(0.02));
  CHECK(to_string(chosen).empty());
}

TEST_CASE("every value that the table lists is understood, and written as it was") {
  for (const auto& option : adaptyst::lib::option_table()) {
    CAPTURE(option.name);
    CHECK(adaptyst::lib::find_option(option.name) == &option);
    for (const std::string_view word : option.words) {
      options chosen;
      std::vector<error> wrong;
      option.set(chosen, word, wrong);
      CHECK(wrong.empty());
      CHECK((option.get(chosen) == word || option.has_commas));
    }
    // The default is one of the values.
    const std::string by_default = adaptyst::lib::find_default(option);
    if (by_default.empty()) continue;
    options chosen;
    std::vector<error> wrong;
    option.set(chosen, by_default, wrong);
    CHECK(wrong.empty());
    CHECK(option.get(chosen) == by_default);
  }
  CHECK(after("engine=auto").engine == engine_choice::automatic);
  CHECK(after("engine=ebpf").engine == engine_choice::ebpf);
  CHECK(after("engine=inline").engine == engine_choice::inlined);
  CHECK(after("engine=off").engine == engine_choice::off);
  CHECK(after("report=none").report == report_choice::none);
  CHECK(after("report=none,report=table").report == report_choice::table);
}

TEST_CASE("an overhead is a percentage, or none") {
  const std::pair<const char*, double> shares[] = {
      {"2%", 0.02}, {"0.5%", 0.005}, {"100%", 1}, {"0.1%", 0.001}, {"none", 0}};
  for (const auto& [text, share] : shares) {
    const options chosen = after(std::string("overhead=") + text);
    CHECK(chosen.overhead == Approx(share));
    if (share != 0.02) CHECK(to_string(chosen) == std::string("overhead=") + text);
  }
  CHECK(after("overhead=5").overhead == Approx(0.05));
  for (const char* const wrong :
       {"", "%", "-1%", "0.02", "0%", "0.05%", "101%", "nan%", "inf%", "2%%", "2 %", "1e400%", "None", "two%"})
    CHECK(contains(complaint_on(std::string("overhead=") + wrong), "from 0.1% to 100%"));
}

TEST_CASE("pairs are joined by commas, and the last word counts") {
  const options chosen = after("engine=ebpf,report=none,output=a=b.json,engine=inline");
  CHECK(chosen.engine == engine_choice::inlined);
  CHECK(chosen.report == report_choice::none);
  CHECK(chosen.find_file(output_form::json) == "a=b.json");
}

TEST_CASE("a second string changes only what it names") {
  options chosen = after("engine=inline,output=a.json");
  CHECK(apply(chosen, "report=none", "the test").empty());
  CHECK(chosen.engine == engine_choice::inlined);
  CHECK(chosen.find_file(output_form::json) == "a.json");
}

TEST_CASE("an unknown name is reported with the nearest known one, and left out") {
  const struct {
    const char* text;
    const char* named;
    const char* nearest;
  } cases[] = {{"overhaed=1%", "unknown option 'overhaed'", "did you mean 'overhead'? choose from engine, report"},
               {"colour=red", "unknown option 'colour'", "choose from engine, report"},
               {"Engine=auto", "unknown option 'Engine'", "did you mean 'engine'?"},
               {"engine =auto", "unknown option 'engine '", "did you mean 'engine'?"},
               {"engine=inlin", "unknown engine 'inlin'", "did you mean 'inline'? choose from auto, ebpf, inline, off"},
               {"engine=", "unknown engine ''", "auto"},
               {"report=tabel", "unknown report 'tabel'", "did you mean 'table'?"},
               {"report", "no '=' in the option 'report'", "report"},
               {"=auto", "unknown option ''", "engine"},
               {"", "no '=' in the option ''", "engine"},
               {"output=", "no form for output ''", ".json"},
               {"output=profile.txtt", "no form for output 'profile.txtt'", ".folded"},
               {"output=jsn:a.json", "unknown form 'jsn'", "did you mean 'json'?"},
               {"output=%x.json", "unknown placeholder in the output '%x.json'", "%p"},
               {"context=", "unknown context ''", "cpu"},
               {"context=weather", "unknown context 'weather'", "cpu, faults"},
               {"may_crash_on_exception=perhaps", "'perhaps'", "no, yes"}};
  for (const auto& [text, named, nearest] : cases) {
    const std::string message = complaint_on(text);
    CAPTURE(text, message);
    CHECK(contains(message, named));
    CHECK(contains(message, nearest));
  }
}

TEST_CASE("of a list, what is right in it holds") {
  options chosen;
  std::vector<error> wrong =
      apply(chosen, "output=a.json;b.svg;c.trace.json;d.json,context=cpu,falts,counters", "the test");
  REQUIRE(wrong.size() == 3);
  CHECK(contains(wrong[0].summary(), "b.svg"));
  CHECK(contains(wrong[1].summary(), "a second output of the form json"));
  CHECK(contains(wrong[2].hint(), "did you mean 'faults'?"));
  CHECK(to_string(chosen) == "output=a.json;c.trace.json,context=cpu,counters");
}

TEST_CASE("any bytes are left out or taken, and nothing else happens") {
  for (int byte = 0; byte != 256; ++byte)
    for (const char* const around : {"", "engine=", "output=%", "output=a"}) {
      options chosen;
      apply(chosen, around + std::string(1, static_cast<char>(byte)) + ".json", "the test");
      CHECK((chosen.outputs.empty() || std::string(around).rfind("output", 0) == 0));
    }
}

TEST_CASE("functions are a list, and their names may have commas") {
  using names = std::vector<std::string>;
  options chosen = after("functions=mpi;./solver:flux(int, double),report=none");
  CHECK(chosen.functions == names{"mpi", "./solver:flux(int, double)"});
  CHECK(chosen.report == report_choice::none);
  CHECK_FALSE(chosen.may_crash_on_exception);
  CHECK(apply(chosen, "report=table,functions=./solver:sum<a, b>(*),may_crash_on_exception=yes", "the test").empty());
  CHECK(chosen.functions == names{"./solver:sum<a, b>(*)"});
  CHECK(chosen.may_crash_on_exception);
  CHECK(after("functions=mpi,io,report=none").functions == names{"mpi", "io"});
  CHECK(after("functions=mpi,./solver:flux(int, double),io").functions ==
        names{"mpi", "./solver:flux(int, double)", "io"});
  CHECK(after("functions=a:sum<a, b>(*),libm.so:sin").functions == names{"a:sum<a, b>(*)", "libm.so:sin"});
  CHECK(after("functions=a:operator>(A, B),a:f").functions == names{"a:operator>(A, B)", "a:f"});
  CHECK(after("functions=").functions.empty());
}

TEST_CASE("lists are joined by commas, whatever is in them") {
  using names = std::vector<std::string>;
  options chosen = after("without=MPI_Test*,poll,flux(int, double),report=none");
  CHECK(chosen.without == names{"MPI_Test*", "poll", "flux(int, double)"});
  CHECK(chosen.report == report_choice::none);
  chosen = after("level=library,step=model,'rows*=layer,engine=inline");
  CHECK(chosen.level == 4);
  CHECK(chosen.levels == names{"step=model", "'rows*=layer"});
  CHECK(chosen.engine == engine_choice::inlined);
  // The name of an option is one, also if its value could be a level; so is a name with a value that is no level.
  for (const char* const wrong : {"level=library,engine=model", "level=library,engin=inline"}) {
    options another;
    CHECK(apply(another, wrong, "the test").size() == 1);
    CHECK(another.levels.empty());
    CHECK(another.level == 4);
  }
}

TEST_CASE("outputs are one of each form, and what is said later holds") {
  options chosen = after("output=a.json;run%p.trace.json,trace_events=1000");
  CHECK(chosen.find_file(output_form::json) == "a.json");
  CHECK(chosen.find_file(output_form::trace) == "run%p.trace.json");
  CHECK(chosen.trace_events == 1024);
  CHECK(apply(chosen, "output=trace:b", "the test").empty());
  CHECK(chosen.find_file(output_form::json).empty());
  CHECK(chosen.find_file(output_form::trace) == "b");
  for (const char* const wrong : {"63", "16777217", "many", "", "1e3", "-1", "100 "})
    CHECK(contains(complaint_on(std::string("trace_events=") + wrong), "from 64 to 16777216"));
}

TEST_CASE("stacks turn samples on") {
  CHECK_FALSE(after("").wants_samples());
  CHECK(after("").find_frequency(false) == 997);
  CHECK(after("").find_frequency(true) == 99);
  CHECK(after("sample_frequency=500").find_frequency(true) == 500);
  CHECK(after("").stacks == adaptyst::stack_choice::automatic);
  CHECK(after("stacks=dwarf").stacks == adaptyst::stack_choice::dwarf);
  CHECK(after("").samples == adaptyst::sample_choice::automatic);
  CHECK_FALSE(after("").wants_samples());
  CHECK(after("samples=timer").samples == adaptyst::sample_choice::timer);
  CHECK(after("samples=timer").wants_samples());
  CHECK(after("samples=timer").find_frequency(false) == 99);
  CHECK(contains(complaint_on("samples=timers"), "did you mean 'timer'?"));
  CHECK(contains(complaint_on("stacks=drawf"), "did you mean 'dwarf'?"));
  const options chosen = after("output=a.json;run%p.folded,sample_frequency=10000");
  CHECK(chosen.find_file(output_form::folded) == "run%p.folded");
  CHECK(chosen.wants_samples());
  CHECK(chosen.sample_frequency == 10000);
  CHECK(after("output=b.speedscope.json").wants_samples());
  CHECK(after("context=samples").wants_samples());
  CHECK(after("context=samples").context.cpu);
  for (const char* const wrong : {"0", "10001", "many", "", "-1", "9.5"})
    CHECK(contains(complaint_on(std::string("sample_frequency=") + wrong), "from 1 to 10000"));
}

TEST_CASE("context is a list with commas, or none") {
  CHECK(after("").context.cpu);
  CHECK_FALSE(after("").context.requested);
  const options both = after("context=cpu,faults,engine=inline");
  CHECK(both.context.cpu);
  CHECK(both.context.faults);
  CHECK(both.context.requested);
  CHECK(both.engine == engine_choice::inlined);
  CHECK_FALSE(after("context=cpu").context.faults);
  CHECK(after("context=faults").context.cpu);
  CHECK_FALSE(after("context=none").context.cpu);
  CHECK(after("context=counters").context.counters);
}

TEST_CASE("options that code fills are written as text, and read back") {
  options filled;
  filled.engine = engine_choice::ebpf;
  filled.outputs = {{output_form::json, "odd.name"}, {output_form::folded, "a.folded"}};
  filled.overhead = 0.075;
  filled.context = {true, false, true, false, true};
  filled.functions = {"io", "./solver:flux(int, double)"};
  const std::string text = to_string(filled);
  CHECK(text ==
        "engine=ebpf,output=json:odd.name;a.folded,overhead=7.5%,context=cpu,samples,functions=io;./solver:flux(int, "
        "double)");
  std::vector<error> left_out;
  CHECK(to_string(adaptyst::parse_options(text, &left_out)) == text);
  CHECK(left_out.empty());
  adaptyst::parse_options("overhaed=1%", &left_out);
  CHECK(left_out.size() == 1);
  CHECK(adaptyst::lib::changed_values(filled).at("overhead") == "7.5%");
  CHECK(adaptyst::lib::changed_values(filled).count("report") == 0);
}

TEST_CASE("what code fills in wrongly is left out as well") {
  options filled;
  filled.overhead = 2;  // a share, no percentage
  filled.sample_frequency = 20'000;
  filled.trace_events = 1000;
  filled.outputs = {{output_form::json, "a,b;c.json"}, {output_form::json, "b.json"}, {output_form::table, ""}};
  filled.report = report_choice::none;
  const std::vector<error> left_out = adaptyst::lib::check(filled, "the test");
  CHECK(left_out.size() == 4);
  CHECK(filled.overhead == Approx(0.02));
  CHECK(filled.sample_frequency == 0);
  CHECK(filled.trace_events == 1024);
  CHECK(filled.report == report_choice::none);
  REQUIRE(filled.outputs.size() == 1);
  CHECK(filled.outputs[0].file == "a,b;c.json");
}

TEST_CASE("what code fills in is kept as it is, and values that no text could name are left out") {
  options filled;
  filled.overhead = 0.0123456789;
  filled.timeline_limit = (std::uint64_t{3} << 20) + 1;
  filled.without = {"a;b"};
  filled.context = {false, true, false, false, false};
  CHECK(adaptyst::lib::check(filled, "the test").empty());
  CHECK(filled.overhead == 0.0123456789);
  CHECK(filled.timeline_limit == (std::uint64_t{3} << 20) + 1);
  CHECK(filled.without == std::vector<std::string>{"a;b"});
  CHECK(filled.context.cpu);
  CHECK(filled.context.requested);
  filled.engine = static_cast<adaptyst::engine_choice>(17);
  filled.level = 7;
  filled.levels = {"library", "MPI_*=library", "=library"};
  filled.timeline_limit = 1;
  filled.keep = std::string(201, 'k');
  CHECK(adaptyst::lib::check(filled, "the test").size() == 6);
  CHECK(filled.engine == engine_choice::automatic);
  CHECK(filled.level == 0);
  CHECK(filled.levels == std::vector<std::string>{"MPI_*=library"});
  CHECK(filled.timeline_limit == options{}.timeline_limit);
  CHECK(filled.keep.empty());
}

TEST_CASE("a misspelt option behind a level is not a rule of the level") {
  options chosen;
  const std::vector<error> wrong = apply(chosen, "level=layer,trace_event=5", "a test");
  REQUIRE(wrong.size() == 1);
  CHECK(wrong[0].hint().find("trace_events") != std::string::npos);
  CHECK(chosen.levels.empty());
}

TEST_CASE("the bracket of an operator hides no comma of a list") {
  options chosen;
  CHECK(apply(chosen, "without=operator<,MPI_*, f(int, int)", "a test").empty());
  CHECK(chosen.without == std::vector<std::string>{"operator<", "MPI_*", "f(int, int)"});
}
