#include "host_calls.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

namespace adaptyst::lib {

namespace {

constexpr std::size_t max_calls = 4'000'000;  // 64 MB

struct known_thread {
  host_thread_calls calls;
  bool is_wanted = false;  // false for a helper that only waits in the system
};

}  // namespace

std::optional<host_efficiencies> read_host_efficiencies(const trace_set& traces, const device_efficiencies& times,
                                                        std::vector<std::string>& remarks) {
  std::map<std::tuple<std::size_t, std::int64_t, std::uint32_t>, known_thread> threads;
  std::size_t count = 0;
  bad_rows bad;
  for (std::size_t trace = 0; trace != traces.size(); ++trace) {
    const auto shift = static_cast<std::uint64_t>(traces.shift_ns(trace));
    traces.trace(trace).read_host_calls(
        [&](const host_call& call) {
          known_thread& of = threads[{trace, call.process, call.thread}];
          if (call.what != host_call_kind::system) of.is_wanted = true;
          std::vector<time_span>& to = call.what == host_call_kind::mpi ? of.calls.mpi : of.calls.other;
          const time_span made{call.begin_ns + shift, call.end_ns + shift};
          // Calls are mostly in order of time, so nested calls are joined at once.
          if (!to.empty() && made.begin_ns >= to.back().begin_ns && made.begin_ns <= to.back().end_ns)
            to.back().end_ns = std::max(to.back().end_ns, made.end_ns);
          else if (count++ < max_calls) to.push_back(made);
        },
        bad);
  }
  if (bad.count() != 0)
    remarks.push_back(fmt::format("the host efficiency excludes {} calls, the first: {}", bad.count(), bad.first));
  if (count > max_calls) {
    remarks.emplace_back("the host efficiency is unknown: there are more than 4 million calls");
    return std::nullopt;
  }
  std::vector<host_thread_calls> wanted;
  for (auto& [key, thread] : threads)
    if (thread.is_wanted) wanted.push_back(std::move(thread.calls));
  if (wanted.empty()) return std::nullopt;
  return find_host_efficiencies(std::move(wanted), times);
}

}  // namespace adaptyst::lib
