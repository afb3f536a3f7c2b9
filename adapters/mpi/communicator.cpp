// Finds out, once for each communicator of MPI, which of its ranks are on this node, and its common number on all
// ranks.
#include "communicator.hpp"
#include "weak_symbols.hpp"

#include <algorithm>
#include <mutex>
#include <new>
#include <numeric>

namespace adaptyst::mpi_calls {

namespace {

int key = MPI_KEYVAL_INVALID;
bool has_met = false;
std::vector<bool> near_in_world;
std::mutex making;
std::atomic<std::uint32_t> ids{0};  // given by this rank

int forget(MPI_Comm, int, void* cached, void*) {
  delete static_cast<communicator*>(cached);
  return MPI_SUCCESS;
}

// The ranks of a communicator, as ranks of the world.
std::vector<int> find_world_ranks(MPI_Comm communicator, int size) {
  std::vector<int> ranks(static_cast<std::size_t>(size)), in_world(ranks.size(), MPI_UNDEFINED);
  std::iota(ranks.begin(), ranks.end(), 0);
  MPI_Group group = MPI_GROUP_NULL, world = MPI_GROUP_NULL;
  if (PMPI_Comm_group(communicator, &group) == MPI_SUCCESS && PMPI_Comm_group(MPI_COMM_WORLD, &world) == MPI_SUCCESS)
    PMPI_Group_translate_ranks(group, size, ranks.data(), world, in_world.data());
  if (group != MPI_GROUP_NULL) PMPI_Group_free(&group);
  if (world != MPI_GROUP_NULL) PMPI_Group_free(&world);
  return in_world;
}

communicator* find_cached(MPI_Comm which) noexcept {
  void* cached = nullptr;
  int is_present = 0;
  if (PMPI_Comm_get_attr(which, key, &cached, &is_present) != MPI_SUCCESS || is_present == 0) return nullptr;
  return static_cast<communicator*>(cached);
}

// Two threads may call at the same time, each with a message.
communicator* make_known(MPI_Comm which) {
  const std::lock_guard<std::mutex> now(making);
  if (communicator* const cached = find_cached(which); cached != nullptr) return cached;
  int is_inter = 0, size = 0;
  if (PMPI_Comm_test_inter(which, &is_inter) != MPI_SUCCESS || is_inter != 0 ||
      PMPI_Comm_size(which, &size) != MPI_SUCCESS || size <= 0)
    return nullptr;
  const std::vector<int> ranks = find_world_ranks(which, size);
  auto* const made = new communicator;
  made->world_ranks_known = std::find(ranks.begin(), ranks.end(), MPI_UNDEFINED) == ranks.end();
  made->first_in_world = ranks.front();
  made->size = static_cast<std::uint32_t>(size);
  made->is_near.resize(ranks.size());
  for (std::size_t rank = 0; rank != ranks.size(); ++rank)
    made->is_near[rank] = ranks[rank] >= 0 && static_cast<std::size_t>(ranks[rank]) < near_in_world.size() &&
                          near_in_world[static_cast<std::size_t>(ranks[rank])];
  if (PMPI_Comm_set_attr(which, key, made) == MPI_SUCCESS) return made;
  delete made;
  return nullptr;
}

}  // namespace

void find_node_ranks(MPI_Comm duplicate) noexcept {
  MPI_Comm node = MPI_COMM_NULL;
  int size = 0, world = 0;
  try {
    if (PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, &forget, &key, nullptr) != MPI_SUCCESS ||
        PMPI_Comm_size(MPI_COMM_WORLD, &world) != MPI_SUCCESS ||
        PMPI_Comm_split_type(duplicate, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node) != MPI_SUCCESS ||
        PMPI_Comm_size(node, &size) != MPI_SUCCESS)
      return;
    near_in_world.assign(static_cast<std::size_t>(world), false);
    for (const int rank : find_world_ranks(node, size))
      if (rank >= 0) near_in_world[static_cast<std::size_t>(rank)] = true;
  } catch (const std::bad_alloc&) {}
  if (node != MPI_COMM_NULL) PMPI_Comm_free(&node);
  has_met = true;
}

communicator* find_communicator(MPI_Comm which) noexcept {
  if (key == MPI_KEYVAL_INVALID || which == MPI_COMM_NULL) return nullptr;
  if (communicator* const communicator = find_cached(which); communicator != nullptr) return communicator;
  try {
    return make_known(which);
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}

communicator* find_agreed_communicator(MPI_Comm which) noexcept {
  communicator* const communicator = has_met ? find_communicator(which) : nullptr;
  if (communicator == nullptr || !communicator->world_ranks_known) return nullptr;
  if (communicator->id != 0) return communicator;
  int rank = 0;
  if (PMPI_Comm_rank(which, &rank) != MPI_SUCCESS) return nullptr;
  std::uint64_t id = 0;
  if (rank == 0) id = (static_cast<std::uint64_t>(communicator->first_in_world) + 1) << 32U | ids.fetch_add(1);
  if (PMPI_Bcast(&id, sizeof id, MPI_BYTE, 0, which) != MPI_SUCCESS || id == 0) return nullptr;
  communicator->id = id;
  return communicator;
}

bool is_on_this_node(MPI_Comm communicator, int peer) noexcept {
  const auto* const cached = find_communicator(communicator);
  return cached != nullptr && peer >= 0 && static_cast<std::size_t>(peer) < cached->is_near.size() &&
         cached->is_near[static_cast<std::size_t>(peer)];
}

}  // namespace adaptyst::mpi_calls
