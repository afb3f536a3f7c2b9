// What another rank has sent: its profile, the plan of the first rank, or details. The first byte says which.
#include <adaptyst/profile.hpp>
#include <string_view>

#include "merge/details.hpp"
#include "merge/message.hpp"
#include "support/error.hpp"
#include "target.hpp"

namespace lib = adaptyst::lib;

namespace {

void try_profile(std::string_view bytes) {
  const adaptyst::profile read = lib::read_message(bytes);
  EXPECT(!adaptyst::to_table(read).empty());
  EXPECT(!adaptyst::to_json(read).empty());
  // What was read is written in one form.
  const std::string once = lib::write_message(read, std::nullopt);
  EXPECT(lib::write_message(lib::read_message(once), std::nullopt) == once);
  const std::string twice = lib::merge_messages(bytes, bytes);
  lib::read_message(twice);
}

void try_details(std::string_view bytes) {
  lib::details_plan plan;
  plan.rows.resize(2);
  plan.rows[1].unit_ns = 1000;
  plan.has_histograms = true;
  lib::rank_details all(plan);
  all.add(bytes);
  all.add(bytes);
  lib::rank_details again(plan);
  again.add(all.message());
  EXPECT(again.message() == all.message());
  adaptyst::profile merged;
  merged.ranks = 2;
  merged.about_ranks.emplace().end = 2;
  all.add_to(merged);
  EXPECT(!adaptyst::to_json(merged).empty());
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  try {
    switch (data[0] % 3) {
      case 0: try_profile(bytes); break;
      case 1: try_details(bytes); break;
      default: EXPECT(lib::read_plan(bytes).ranks_per_bin != 0);
    }
  } catch (const adaptyst::lib::error&) {}
  return 0;
}
