// Where results go: [FORM:]FILE.
#include "support/output_form.hpp"

#include <unistd.h>

#include <climits>
#include <cstdlib>
#include <string>

#include "catch.hpp"

namespace {

using adaptyst::error;
using adaptyst::output_form;
using adaptyst::lib::distinguishes_processes;
using adaptyst::lib::expand;
using adaptyst::lib::parse_output;
using adaptyst::lib::to_text;
using adaptyst::lib::with_number;

struct parsed {
  std::optional<adaptyst::output> made;
  std::vector<error> wrong;
};

parsed parse(const std::string& text) {
  parsed all;
  all.made = parse_output(text, all.wrong);
  CHECK(all.made.has_value() == all.wrong.empty());
  return all;
}

bool is(const std::string& text, output_form form, const std::string& file) {
  const parsed all = parse(text);
  return all.made && all.made->form == form && all.made->file == file;
}

std::string hint_on(const std::string& text) {
  const parsed all = parse(text);
  return all.wrong.size() == 1 ? all.wrong.front().hint() : "";
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

TEST_CASE("without a form the suffix decides") {
  CHECK(is("a.json", output_form::json, "a.json"));
  CHECK(is("/some where/a.trace.json", output_form::trace, "/some where/a.trace.json"));
  CHECK(is("a.speedscope.json", output_form::speedscope, "a.speedscope.json"));
  CHECK(is("a.folded", output_form::folded, "a.folded"));
  CHECK(is("a.txt", output_form::table, "a.txt"));
  CHECK(is("a.html", output_form::html, "a.html"));
  CHECK(is("a.csv", output_form::csv, "a.csv"));
  CHECK(is("a.pb.gz", output_form::pprof, "a.pb.gz"));
  CHECK(is("a.prom", output_form::prometheus, "a.prom"));
  CHECK(is("a.cali", output_form::caliper, "a.cali"));
  CHECK(is("a.talp.json", output_form::talp, "a.talp.json"));
  CHECK(is("a.trace.json.txt", output_form::table, "a.trace.json.txt"));
  for (const char* const none : {"", "a", ".json", ".folded", "a.svg", "a.json.gz", "a.JSON"})
    CHECK(hint_on(none).find("FORM:FILE") != std::string::npos);
}

TEST_CASE("a form that is named goes before the suffix") {
  CHECK(is("json:a.txt", output_form::json, "a.txt"));
  CHECK(is("trace:a.json", output_form::trace, "a.json"));
  CHECK(is("table:/dev/stderr", output_form::table, "/dev/stderr"));
  CHECK(parse("json:").wrong.front().summary().find("no file") == 0);
}

TEST_CASE("a suffix that means nothing for a timeline is refused") {
  for (const char* const good : {"trace:a", "trace:/dev/full", "trace:a.json", "trace:a.sqlite", "trace:a.events",
                                 "trace:a.pftrace", "trace:a.%p"}) {
    std::vector<adaptyst::error> wrong;
    CAPTURE(good);
    CHECK(adaptyst::lib::parse_output(good, wrong));
  }
  for (const char* const bad : {"trace:a.html", "trace:a.folded", "trace:a.otf2", "trace:dir.d/a.txt"}) {
    std::vector<adaptyst::error> wrong;
    CAPTURE(bad);
    CHECK_FALSE(adaptyst::lib::parse_output(bad, wrong));
    REQUIRE(wrong.size() == 1);
    CHECK(wrong[0].hint().find(".events") != std::string::npos);
  }
}

TEST_CASE("only names of forms are taken for forms, and a slip is told") {
  CHECK(is("C:\\a.json", output_form::json, "C:\\a.json"));
  CHECK(is("run:1.json", output_form::json, "run:1.json"));
  CHECK(is("./tabel:1.json", output_form::json, "./tabel:1.json"));
  CHECK(is("json:odd:name", output_form::json, "odd:name"));
  CHECK(is("json:table:1", output_form::json, "table:1"));
  CHECK(hint_on("jsn:a.json").find("did you mean 'json'?") == 0);
  CHECK(hint_on("jsn:a.json").find("json:jsn:a.json") != std::string::npos);
  CHECK(hint_on("speedscpoe:a").find("did you mean 'speedscope'?") == 0);
}

TEST_CASE("outputs that a comma joins are refused, and commas in names are not") {
  CHECK(hint_on("a.json,b.html") == "write 'a.json;b.html', or give the option twice");
  CHECK(hint_on("json:a,html:b") == "write 'json:a;html:b', or give the option twice");
  CHECK(is("a,b.json", output_form::json, "a,b.json"));
  CHECK(is("html:a.json,b.html", output_form::html, "a.json,b.html"));
}

TEST_CASE("an output is written as it is read") {
  for (const char* const text :
       {"a.json", "json:a.txt", "trace:json:x", "table:a", "json:tabel:1.json", "folded:a.folded"}) {
    const parsed once = parse(text);
    REQUIRE(once.made);
    CHECK(is(to_text(*once.made), once.made->form, once.made->file));
  }
}

TEST_CASE("placeholders are known ones") {
  CHECK(is("%h.%p.%r.%%.json", output_form::json, "%h.%p.%r.%%.json"));
  for (const char* const wrong : {"%x.json", "%.json", "json:a%", "table:%q"})
    CHECK(parse(wrong).wrong.front().summary().find("unknown placeholder") == 0);
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

TEST_CASE("what does not look like a rank is none") {
  const environment clean;
  setenv("PMI_RANK", "../17", 1);
  CHECK(expand("%r.json") == "0.json");
  setenv("SLURM_PROCID", "4", 1);
  CHECK(expand("%r.json") == "4.json");
}

TEST_CASE("a number goes between a name and its suffix") {
  CHECK(with_number("run.json", "3") == "run-3.json");
  CHECK(with_number("a.b/run.trace.json", "3") == "a.b/run-3.trace.json");
  CHECK(with_number("a.b/run.v2.txt", "3") == "a.b/run.v2-3.txt");
  CHECK(with_number("a.b/run", "3") == "a.b/run-3");
  CHECK(with_number("a.b/.hidden", "3") == "a.b/.hidden-3");
  CHECK(with_number("run.svg", "3") == "run-3.svg");
}

TEST_CASE("a name distinguishes processes that has %p or %r in it") {
  for (const char* const distinct : {"%p.json", "a.%r.json", "%%%p"}) CHECK(distinguishes_processes(distinct));
  for (const char* const alike : {"p.json", "%h.json", "%%p.json", "%%r", ""})
    CHECK_FALSE(distinguishes_processes(alike));
}
