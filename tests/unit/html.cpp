// The page of a profile and of a comparison, as far as it is text; tests/page looks at it in a browser.
#include <adaptyst/compare.hpp>
#include <adaptyst/profile.hpp>
#include <nlohmann/json.hpp>
#include <string>

#include "catch.hpp"
#include "report/page_shell.hpp"
#include "samples.hpp"

namespace {

std::size_t count(const std::string& text, const std::string& what) {
  std::size_t found = 0;
  for (std::size_t at = 0; (at = text.find(what, at)) != std::string::npos; ++at) ++found;
  return found;
}

// What stands in a page whose data are not compressed.
nlohmann::json data_of(const std::string& page) {
  const std::string begin = "data-form=\"json\">";
  const std::size_t at = page.find(begin);
  REQUIRE(at != std::string::npos);
  return nlohmann::json::parse(page.substr(at + begin.size(), page.find("</script", at) - at - begin.size()));
}

adaptyst::profile with_name(const std::string& name) {
  adaptyst::profile made;
  made.engine = "inline";
  made.devices.emplace_back().kind = adaptyst::device_kind::cpu;
  made.processes.push_back({1, "/bin/" + name, name, 1000});
  adaptyst::region& row = made.regions.emplace_back();
  row.path = {name};
  row.id = 1;
  row.count = row.threads = 1;
  row.total_ns = row.self_ns = row.min_ns = row.max_ns = 500;
  row.durations.add(500);
  return made;
}

}  // namespace

TEST_CASE("a page has the rows of its profile, and what the report says of it") {
  const nlohmann::json data = data_of(adaptyst::to_html(with_name("advect")));
  CHECK(data["page"] == "profile");
  CHECK(data["profile"]["regions"][0]["name"] == "advect");
  CHECK(data["profile"]["regions"][0]["total_ns"] == 500);
  CHECK(data["words"]["title"] == "advect");
  CHECK(data["words"]["devices"] == nlohmann::json::array({"host"}));
  CHECK(data["words"]["wall_ns"] == 1000);
  CHECK(data["words"]["unmarked"]["legend"].get<std::string>().find("(unmarked)") == 0);
}

TEST_CASE("each reason of missing data has a sentence") {
  using reason = adaptyst::loss_reason;
  const auto is_explained = [](const adaptyst::profile& profile, reason why) {
    const std::string begin = std::string(adaptyst::to_string(why)) + ": ";
    const nlohmann::json data = data_of(adaptyst::to_html(profile));
    for (const nlohmann::json& value : data["words"]["warnings"])
      if (value.get<std::string>().find(begin) == 0 && value.get<std::string>().size() > begin.size() + 20) return true;
    return false;
  };
  for (int why = 0; why <= static_cast<int>(reason::function_too_deep); ++why) {
    CAPTURE(why);
    adaptyst::profile profile = with_name("advect");
    profile.accounting.lost[static_cast<reason>(why)] = 3;
    CHECK(is_explained(profile, static_cast<reason>(why)));
  }
  for (const reason why :
       {reason::rows_full, reason::no_memory, reason::unreadable, reason::other_layout, reason::no_wakeup,
        reason::counter_interrupts, reason::stacks_full, reason::truncated, reason::clock_stopped, reason::processors,
        reason::not_announced, reason::sample_ring_full, reason::throttled, reason::region_unknown,
        reason::too_many_threads, reason::not_unwound, reason::signal_in_use, reason::not_attached, reason::other}) {
    CAPTURE(static_cast<int>(why));
    adaptyst::profile profile = with_name("advect");
    profile.context.emplace().lost[why] = 3;
    CHECK(is_explained(profile, why));
  }
}

TEST_CASE("no name ends the element that it stands in, and bytes that are no text do no harm") {
  for (const char* const name : {"</script><script>alert(1)</script>", "<!--<script>", "\xff\xfe\xc3", "\xed\xa0\x80",
                                 "a\xe2\x80\xae", "\x01\x1b[2J"}) {
    CAPTURE(name);
    const adaptyst::profile profile = with_name(name);
    for (const std::string& page :
         {adaptyst::to_html(profile), adaptyst::to_html(adaptyst::compare(profile, profile))}) {
      CHECK(count(page, "</script") == 2);
      CHECK(count(page, "<!--") == 0);
      CHECK_NOTHROW(data_of(page));
    }
  }
}

TEST_CASE("large data are compressed") {
  const std::string small = adaptyst::lib::make_page(adaptyst::lib::shell_of_profile, "{}");
  std::string text(100000, 'a');
  const std::string large = adaptyst::lib::make_page(adaptyst::lib::shell_of_profile, "\"" + text + "\"");
  CHECK(count(small, "data-form=\"json\">{}</script>") == 1);
  CHECK(count(large, "data-form=\"deflate\">eNrt") == 1);  // begins a zlib stream, in base64
  CHECK(large.size() < small.size() + 1000);
}

TEST_CASE("histograms of many rows are drawn with few bars, and no other figure changes") {
  adaptyst::profile profile = with_name("row");
  for (std::uint64_t at = 1; at != 200; ++at) {
    adaptyst::region row = profile.regions.front();
    row.path = {"row" + std::to_string(at)};
    row.id = at + 1;
    for (std::uint64_t event = 0; event != 100; ++event) row.durations.add(100 + event * event * at);
    profile.regions.push_back(row);
  }
  const std::string longer = adaptyst::to_html(profile);
  CHECK(count(longer, "data-form=\"deflate\">") == 1);
  for (adaptyst::region& row : profile.regions)
    for (std::uint64_t more = 0; more != 9; ++more)
      for (std::uint64_t event = 0; event != 100; ++event) row.durations.add(100 + event * event * row.id);
  CHECK(static_cast<double>(adaptyst::to_html(profile).size()) < 1.05 * static_cast<double>(longer.size()));
}

TEST_CASE("whatever is in a profile, it has a page") {
  samples::generator random(19);
  for (int round = 0; round != 50; ++round) {
    const adaptyst::profile profile = random.profile(), other = random.profile();
    CHECK(count(adaptyst::to_html(profile), "</html>") == 1);
    CHECK(count(adaptyst::to_html(adaptyst::compare(profile, other)), "</html>") == 1);
  }
}

TEST_CASE("a comparison's page has the comparison") {
  const adaptyst::profile profile = with_name("advect");
  const adaptyst::comparison same = adaptyst::compare(profile, profile);
  const nlohmann::json data = data_of(adaptyst::to_html(same));
  CHECK(data["page"] == "comparison");
  CHECK(data["comparison"] == nlohmann::json::parse(adaptyst::to_json(same)));
  CHECK(data["words"]["labels"] == nlohmann::json::array({"host"}));
  CHECK(data["words"]["subject"] == "1 run before, 1 run after");
}
