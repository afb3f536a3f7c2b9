#include "host_efficiency.hpp"

#include <algorithm>
#include <cstddef>

namespace adaptyst::lib {

namespace {

// Joins spans that overlap or touch. `all` is sorted by begin.
void unite(std::vector<time_span>& all) {
  std::size_t count = 0;
  for (const time_span& span : all) {
    if (span.begin_ns >= span.end_ns) continue;
    if (count != 0 && span.begin_ns <= all[count - 1].end_ns)
      all[count - 1].end_ns = std::max(all[count - 1].end_ns, span.end_ns);
    else all[count++] = span;
  }
  all.resize(count);
}

// The part of [begin, end) without `calls`, which are united; `at`: the first call that may overlap it.
std::uint64_t rest(const std::vector<time_span>& calls, std::uint64_t begin, std::uint64_t end, std::size_t& at) {
  while (at != calls.size() && calls[at].end_ns <= begin) ++at;
  std::uint64_t left = end - begin;
  for (std::size_t next = at; next != calls.size() && calls[next].begin_ns < end; ++next)
    left -= std::min(calls[next].end_ns, end) - std::max(calls[next].begin_ns, begin);
  return left;
}

host_efficiency find_factors(const device_efficiency& time, std::uint64_t threads, const host_sums& sums) {
  return {time.start_ns, time.end_ns, threads, sums.find_factors(threads, time.end_ns - time.start_ns)};
}

}  // namespace

host_efficiencies find_host_efficiencies(std::vector<host_thread_calls> threads, const device_efficiencies& times) {
  const auto order = [](std::vector<time_span>& all) {
    std::sort(all.begin(), all.end(), [](const time_span& a, const time_span& b) { return a.begin_ns < b.begin_ns; });
    unite(all);
  };
  host_sums whole;
  std::vector<host_sums> windows(times.windows.size());
  for (host_thread_calls& thread : threads) {
    std::vector<time_span>& all = thread.other;
    all.insert(all.end(), thread.mpi.begin(), thread.mpi.end());
    order(thread.mpi);
    order(all);
    std::size_t mpi = 0, any = 0;
    whole.add(rest(thread.mpi, times.whole.start_ns, times.whole.end_ns, mpi),
              rest(all, times.whole.start_ns, times.whole.end_ns, any));
    mpi = any = 0;
    for (std::size_t at = 0; at != windows.size(); ++at) {
      const device_efficiency& window = times.windows[at];
      windows[at].add(rest(thread.mpi, window.start_ns, window.end_ns, mpi),
                      rest(all, window.start_ns, window.end_ns, any));
    }
  }
  host_efficiencies made;
  made.whole = find_factors(times.whole, threads.size(), whole);
  for (std::size_t at = 0; at != windows.size(); ++at)
    made.windows.push_back(find_factors(times.windows[at], threads.size(), windows[at]));
  return made;
}

}  // namespace adaptyst::lib
