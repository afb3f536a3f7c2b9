// What several processes that were told the same name call their files.
#include "session/output_names.hpp"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <optional>

#include "catch.hpp"
#include "support/error.hpp"

namespace {

using adaptyst::output;
using adaptyst::output_form;
using adaptyst::lib::output_names;
using how_much = output_names::how_much;

// Of a rank, in a directory of its own.
class rank {
 public:
  explicit rank(const char* number, const char* size = nullptr) {
    char made[] = "/tmp/adaptyst-names-XXXXXX";
    REQUIRE(mkdtemp(made) != nullptr);
    directory_ = made;
    for (const char* const name : variables) unsetenv(name);
    if (number != nullptr) setenv("OMPI_COMM_WORLD_RANK", number, 1);
    if (size != nullptr) setenv("OMPI_COMM_WORLD_SIZE", size, 1);
  }
  ~rank() {
    for (const char* const name : variables) unsetenv(name);
    std::filesystem::remove_all(directory_);
  }
  rank(const rank&) = delete;
  rank& operator=(const rank&) = delete;

  std::string file(const std::string& name) const { return directory_ + "/" + name; }

 private:
  static constexpr const char* variables[] = {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "PMI_RANK", "PMIX_RANK",
                                              "SLURM_PROCID"};
  std::string directory_;
};

std::string json_name(const output_names& names) { return names.of(output_form::json); }

}  // namespace

TEST_CASE("a single process has the name that it was told") {
  const rank alone(nullptr);
  output_names names({{output_form::json, alone.file("a.json")}});
  CHECK(json_name(names) == alone.file("a.json"));
  CHECK(names.of(output_form::trace).empty());
  CHECK(names.describe(how_much::all).empty());
  names.note_written(output_form::json);
  CHECK(names.describe(how_much::all) == "written: " + alone.file("a.json"));
  CHECK(names.describe(how_much::what_is_renamed).empty());
}

TEST_CASE("a rank has a name of its own, unless it was told one or is the only rank") {
  {
    const rank third("3");
    CHECK(json_name(output_names({{output_form::json, third.file("a.json")}})) == third.file("a-3.json"));
    CHECK(json_name(output_names({{output_form::json, third.file("a.%r.json")}})) == third.file("a.3.json"));
    CHECK(json_name(output_names({{output_form::json, third.file("of%p")}})) ==
          third.file("of" + std::to_string(getpid())));
  }
  const rank only("0", "1");
  CHECK(json_name(output_names({{output_form::json, only.file("a.json")}})) == only.file("a.json"));
}

TEST_CASE("the first rank tells for all") {
  for (const char* const number : {"0", "3"}) {
    const rank writer(number);
    output_names names({{output_form::json, writer.file("a.json")}});
    names.note_written(output_form::json);
    CHECK(names.describe(how_much::what_is_renamed).empty() == (*number != '0'));
    CHECK(names.describe(how_much::all).find("each rank has its own") != std::string::npos);
  }
}

TEST_CASE("who is the second to be told a name adds its number, by whatever path it was told") {
  const rank alone(nullptr);
  std::optional<output_names> first(std::in_place, std::vector<output>{{output_form::json, alone.file("a.json")}});
  output_names second({{output_form::json, alone.file("./a.json")}});
  const std::string number = std::to_string(getpid());
  CHECK(json_name(second) == alone.file("./a-" + number + ".json"));
  second.note_written(output_form::json);
  CHECK(second.describe(how_much::what_is_renamed).find("another process writes") != std::string::npos);
  CHECK(json_name(output_names({{output_form::json, alone.file("b.json")}})) == alone.file("b.json"));
  first.reset();
  CHECK(json_name(output_names({{output_form::json, alone.file("a.json")}})) == alone.file("a.json"));
}

TEST_CASE("a device is shared") {
  const rank third("3");
  const output_names first({{output_form::json, "/dev/null"}}), second({{output_form::json, "/dev/null"}});
  CHECK(json_name(first) == "/dev/null");
  CHECK(json_name(second) == "/dev/null");
  CHECK(json_name(output_names({{output_form::json, "/dev/stderr"}})) == "/dev/stderr");
}

TEST_CASE("what cannot be written is known before, and nothing is left of the trial") {
  const rank alone(nullptr);
  CHECK_NOTHROW(output_names({{output_form::json, alone.file("a.json")}}).require_writable());
  CHECK_NOTHROW(output_names({{output_form::json, "/dev/null"}}).require_writable());
  CHECK(std::filesystem::is_empty(alone.file("")));
  const std::string nowhere = alone.file("nowhere/a.json"), folder = alone.file("folder");
  std::filesystem::create_directory(folder);
  for (const std::string& text : {nowhere, folder}) {
    const output_names names({{output_form::table, "/dev/null"}, {output_form::json, text}});
    try {
      names.require_writable();
      FAIL("it was taken for writable: " + text);
    } catch (const adaptyst::error& refused) {
      CHECK(refused.subject() == text);
    }
  }
}
