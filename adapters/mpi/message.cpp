// Bytes of collective calls, and labels: ADAPTYST_MPI_LABELS=peer,distance,bytes,communicator. docs/mpi.md
#include "message.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "communicator.hpp"
#include "weak_symbols.hpp"

namespace adaptyst::mpi_calls {

namespace {

int find_own_size(MPI_Comm communicator) noexcept {
  int size = 0;
  return PMPI_Comm_size(communicator, &size) != MPI_SUCCESS ? 0 : size;
}

// The number of ranks that receive data from a rank: between two groups, those of the other group.
int find_size(MPI_Comm communicator) noexcept {
  int is_inter = 0, size = 0;
  if (PMPI_Comm_test_inter(communicator, &is_inter) != MPI_SUCCESS) return 0;
  const int failed = is_inter != 0 ? PMPI_Comm_remote_size(communicator, &size) : PMPI_Comm_size(communicator, &size);
  return failed != MPI_SUCCESS ? 0 : size;
}

// Between two groups, the root passes MPI_ROOT, and the ranks of the other group pass its rank in its group.
bool is_root(int root, MPI_Comm communicator) noexcept {
  int is_inter = 0, rank = 0;
  if (PMPI_Comm_test_inter(communicator, &is_inter) != MPI_SUCCESS) return false;
  if (is_inter != 0) return root == MPI_ROOT;
  return PMPI_Comm_rank(communicator, &rank) == MPI_SUCCESS && rank == root;
}

template <class Bytes>
std::uint64_t sum(int size, const Bytes& rank_bytes) noexcept {
  std::uint64_t all = 0;
  for (int rank = 0; rank < size; ++rank) all += rank_bytes(rank);
  return all;
}

std::uint64_t sum_bytes(const int* counts, MPI_Datatype type, int size) noexcept {
  const std::uint64_t element_bytes = bytes(1, type);
  return sum(size, [&](int rank) { return element_bytes * static_cast<std::uint64_t>(std::max(0, counts[rank])); });
}

struct labels {
  bool peer = false, distance = false, bytes = false, communicator = false;
  bool any() const noexcept { return peer || distance || bytes || communicator; }
};

labels read_labels() noexcept {
  labels made;
  const char* const variable = std::getenv("ADAPTYST_MPI_LABELS");
  std::string_view left = variable != nullptr ? variable : "";
  while (!left.empty()) {
    const std::string_view label = left.substr(0, left.find(','));
    left.remove_prefix(std::min(left.size(), label.size() + 1));
    if (label == "peer") made.peer = true;
    else if (label == "distance") made.distance = true;
    else if (label == "bytes") made.bytes = true;
    else if (label == "communicator") made.communicator = true;
    else if (!label.empty())
      std::fprintf(stderr,
                   "adaptyst: ADAPTYST_MPI_LABELS: unknown value %.*s, ignored; choose from peer, distance, bytes, "
                   "communicator\n",
                   static_cast<int>(label.size()), label.data());
  }
  return made;
}

const labels& requested_labels() noexcept {
  static const labels labels = read_labels();
  return labels;
}

}  // namespace

std::uint64_t all_bytes(const void* sent, int count, MPI_Datatype type, MPI_Comm communicator) noexcept {
  return sent == MPI_IN_PLACE ? 0 : bytes(count, type) * static_cast<std::uint64_t>(find_size(communicator));
}
std::uint64_t all_bytes(const void* sent, const int* counts, MPI_Datatype type, MPI_Comm communicator) noexcept {
  return sent == MPI_IN_PLACE ? 0 : sum_bytes(counts, type, find_size(communicator));
}
std::uint64_t all_bytes(const void* sent, const int* counts, const MPI_Datatype* types,
                        MPI_Comm communicator) noexcept {
  if (sent == MPI_IN_PLACE) return 0;
  return sum(find_size(communicator), [&](int rank) { return bytes(counts[rank], types[rank]); });
}
std::uint64_t reduced_bytes(int count, MPI_Datatype type, MPI_Comm communicator) noexcept {
  return bytes(count, type) * static_cast<std::uint64_t>(find_own_size(communicator));
}
std::uint64_t reduced_bytes(const int* counts, MPI_Datatype type, MPI_Comm communicator) noexcept {
  return sum_bytes(counts, type, find_own_size(communicator));
}
std::uint64_t broadcast_bytes(int count, MPI_Datatype type, int root, MPI_Comm communicator) noexcept {
  return is_root(root, communicator) ? bytes(count, type) : 0;
}
std::uint64_t scattered_bytes(int count, MPI_Datatype type, int root, MPI_Comm communicator) noexcept {
  return is_root(root, communicator) ? bytes(count, type) * static_cast<std::uint64_t>(find_size(communicator)) : 0;
}
std::uint64_t scattered_bytes(const int* counts, MPI_Datatype type, int root, MPI_Comm communicator) noexcept {
  return is_root(root, communicator) ? sum_bytes(counts, type, find_size(communicator)) : 0;
}

bool message::has_labels() noexcept { return requested_labels().any(); }

void message::label(int peer, MPI_Comm communicator) noexcept {
  const labels& labels = requested_labels();
  std::size_t used = 0;
  const auto add = [&](const char* name, const char* value) {
    const int made = std::snprintf(label_ + used, sizeof label_ - used, "%s%s=%s", used != 0 ? "," : "", name, value);
    if (made > 0) used = std::min(sizeof label_ - 1, used + static_cast<std::size_t>(made));
  };
  if (labels.peer && peer == MPI_ANY_SOURCE) add("peer", "any");
  else if (labels.peer && peer >= 0) {
    char number[16];
    std::snprintf(number, sizeof number, "%d", peer);
    add("peer", number);
  }
  if (labels.distance && peer >= 0) add("distance", is_on_this_node(communicator, peer) ? "node" : "network");
  if (labels.bytes && values_.count != 0) {
    char number[24];
    std::snprintf(number, sizeof number, "%.0f", values_.numbers[0]);
    add("bytes", number);
  }
  if (labels.communicator) {
    char name[MPI_MAX_OBJECT_NAME] = "";
    int length = 0;
    PMPI_Comm_get_name(communicator, name, &length);
    if (name[0] == '\0') std::snprintf(name, sizeof name, "of %d ranks", find_size(communicator));
    add("communicator", name);
  }
  values_.label = {label_, used};
}

}  // namespace adaptyst::mpi_calls
