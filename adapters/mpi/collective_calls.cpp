#include "collective_calls.hpp"

#include <algorithm>
#include <cstring>
#include <mutex>
#include <new>

#include "weak_symbols.hpp"

namespace adaptyst::mpi_calls {

namespace {

constexpr std::size_t max_noted = 8192;

std::mutex busy;
collective_calls noted;

bool is_left_out(std::uint64_t group, std::uint64_t number) noexcept {
  return collective_calls::is_left_out(group, number, noted.step);
}

// The region of the call; 0 if the budget has skipped it.
std::uint64_t find_region() noexcept {
  const detail::recorder* const own = detail::this_thread_recorder;
  if (reinterpret_cast<std::uintptr_t>(own) <= 1) return 0;
  const adaptyst_path* const path = detail::current_path(*own);
  return path != nullptr && path->site != nullptr && std::strncmp(path->site->name, "MPI_", 4) == 0 ? path->id : 0;
}

}  // namespace

void collective_call::note(std::uint64_t time_ns) const noexcept {
  try {
    const std::lock_guard<std::mutex> now(busy);
    while (!is_left_out(in_->id, number_) && noted.calls.size() == max_noted) {
      noted.step *= 2;
      noted.calls.erase(std::remove_if(noted.calls.begin(), noted.calls.end(),
                                       [](const auto& call) { return is_left_out(call.group, call.number); }),
                        noted.calls.end());
    }
    if (is_left_out(in_->id, number_)) return;
    if (noted.calls.capacity() == 0) noted.calls.reserve(max_noted);
    noted.calls.push_back({in_->id, number_, in_->size, find_region(), time_ns, is_loose_});
  } catch (const std::bad_alloc&) {}
}

bool has_zero(const int* counts, MPI_Comm communicator) noexcept {
  int size = 0;
  if (PMPI_Comm_size(communicator, &size) != MPI_SUCCESS) return true;
  return std::find(counts, counts + size, 0) != counts + size;
}

collective_calls recorded_collectives() {
  const std::lock_guard<std::mutex> now(busy);
  return noted;
}

}  // namespace adaptyst::mpi_calls
