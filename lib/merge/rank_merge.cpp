// Merges profiles of ranks: ranks of one job that exchange messages, or profiles from files, one after the other.
#include "rank_merge.hpp"

#include <utility>

#include "../model/ranks.hpp"
#include "collective_sum.hpp"

namespace adaptyst::lib {

namespace {

std::string describe_missing(std::uint32_t begin, std::uint32_t end) {
  profile none;
  none.ranks = 0;
  rank_account& account = none.about_ranks.emplace();
  account.end = end;
  account.missing.count = end - begin;
  for (std::uint32_t rank = begin; rank != end && account.missing.first.size() != rank_list::max_first; ++rank)
    account.missing.first.push_back({rank, ""});
  return write_message(none, std::nullopt, short_histograms);
}

std::optional<collective_sum> reduce_collectives(const collective_calls& own, const rank_place& place,
                                                 rank_transport& over, absent_ranks& absent, std::size_t max_bytes) {
  collective_sum all;
  all.add(own, place.rank, place.host);
  reduction how;
  how.add = [&](const std::string& message) { all.add(message); };
  how.on_missing = [](std::uint32_t, std::uint32_t) {};  // calls of a missing rank are incomplete
  how.message = [&] { return all.message(); };
  how.max_bytes = max_bytes;
  return reduce(over, how, absent) ? std::optional(std::move(all)) : std::nullopt;
}

}  // namespace

std::optional<std::string> reduce_core(const profile& own, const rank_place& place, rank_transport& over,
                                       absent_ranks& absent, std::size_t max_bytes) {
  std::string all = write_message(own, place, short_histograms);
  reduction how;
  how.add = [&](const std::string& message) { all = merge_messages(all, message); };
  how.on_missing = [&](std::uint32_t begin, std::uint32_t end) {
    all = merge_messages(all, describe_missing(begin, end));
  };
  how.message = [&] { return std::exchange(all, {}); };
  how.max_bytes = max_bytes;
  return reduce(over, how, absent) ? std::optional(std::move(all)) : std::nullopt;
}

std::optional<rank_details> reduce_details(const profile& own, const rank_place& place, const details_plan& plan,
                                           rank_transport& over, absent_ranks& absent, std::size_t max_bytes) {
  rank_details all(plan);
  all.add(own, place);
  reduction how;
  how.add = [&](const std::string& message) { all.add(message); };
  how.on_missing = [](std::uint32_t, std::uint32_t) {};  // processes of a missing rank stay unlisted
  how.message = [&] { return all.message(); };
  how.max_bytes = max_bytes;
  return reduce(over, how, absent) ? std::optional(std::move(all)) : std::nullopt;
}

merged_ranks merge_ranks(const profile& own, const std::string& host, rank_transport& over,
                         const collective_calls& collective, std::size_t max_bytes) {
  const rank_place place{over.rank(), host};
  absent_ranks absent;
  const std::optional<std::string> core = reduce_core(own, place, over, absent, max_bytes);
  profile merged;
  std::string plan;
  if (core) {
    merged = read_message(*core);
    plan = make_plan(merged, short_histograms).message();
  }
  const std::optional<std::string> sent = broadcast(over, std::move(plan), absent, max_bytes);
  if (!sent) return {};
  const std::optional<rank_details> details = reduce_details(own, place, read_plan(*sent), over, absent, max_bytes);
  const std::optional<collective_sum> calls = reduce_collectives(collective, place, over, absent, max_bytes);
  if (!details || !calls) return {std::nullopt, true};
  details->add_to(merged);
  calls->add_to(merged);
  return {std::move(merged), true};
}

void profile_sum::add(const profile& more) {
  const std::optional<rank_place> place = find_place(more);
  std::string message = write_message(more, place);
  all_ = count_ == 0 ? std::move(message) : merge_messages(all_, message);
  ++count_;
  has_merged_ = has_merged_ || more.ranks;
  profile local;
  local.stacks = more.stacks;
  merge(local_, local);
  // further processes are not listed
  if (processes_.count_processes() <= profile::max_processes) processes_.add(more, place);
}

profile profile_sum::result(const std::function<std::optional<profile>(std::size_t)>& read) const {
  profile merged = read_message(all_);
  merged.stacks = local_.stacks;
  details_plan plan = make_plan(merged, {});
  plan.has_whole_processes = true;
  if (has_merged_) plan.rows.clear();  // the times of single ranks are unknown
  if (plan.rows.empty() && plan.has_all_processes) {
    processes_.add_to(merged);
    return merged;
  }
  rank_details details(plan);
  for (std::size_t number = 0; number != count_; ++number)
    if (const std::optional<profile> again = read(number)) details.add(*again, find_place(*again));
  details.add_to(merged);
  return merged;
}

}  // namespace adaptyst::lib
