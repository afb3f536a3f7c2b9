// Finds out, once for each communicator of MPI, which of its ranks share this node and under which number all its ranks
// know it.
#include "communicator.hpp"
#include "weak_symbols.hpp"

#include <map>
#include <mutex>
#include <new>
#include <numeric>

namespace adaptyst::mpi_calls {

namespace {

int key = MPI_KEYVAL_INVALID;
std::vector<bool> near_in_world;  // by rank in MPI_COMM_WORLD: whether it is on this node

int forget(MPI_Comm, int, void* known, void*) {
  delete static_cast<communicator*>(known);
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

std::uint64_t mix(std::uint64_t value) noexcept {
  value *= 0x9E3779B97F4A7C15U;
  return value ^ (value >> 32);
}

// The number that all ranks of a communicator know it by. Several communicators may have the same ranks in the same
// order; they are counted, since all ranks meet them in the same order.
std::uint64_t make_id(const std::vector<int>& ranks) {
  static std::mutex busy;
  static std::map<std::uint64_t, std::uint32_t> known;
  std::uint64_t id = ranks.size();
  for (const int one : ranks) id = mix(id ^ static_cast<std::uint32_t>(one));
  const std::lock_guard<std::mutex> now(busy);
  return mix(id ^ known[id]++);
}

communicator* make_known(MPI_Comm which) {
  int is_inter = 0, size = 0;
  if (PMPI_Comm_test_inter(which, &is_inter) != MPI_SUCCESS || is_inter != 0 ||
      PMPI_Comm_size(which, &size) != MPI_SUCCESS || size <= 0)
    return nullptr;
  const std::vector<int> ranks = find_world_ranks(which, size);
  auto* const made = new communicator;
  made->id = make_id(ranks);
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

void meet_node() noexcept {
  MPI_Comm node = MPI_COMM_NULL;
  int size = 0, world = 0;
  try {
    if (PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, &forget, &key, nullptr) != MPI_SUCCESS ||
        PMPI_Comm_size(MPI_COMM_WORLD, &world) != MPI_SUCCESS ||
        PMPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node) != MPI_SUCCESS ||
        PMPI_Comm_size(node, &size) != MPI_SUCCESS)
      return;
    near_in_world.assign(static_cast<std::size_t>(world), false);
    for (const int rank : find_world_ranks(node, size))
      if (rank >= 0) near_in_world[static_cast<std::size_t>(rank)] = true;
  } catch (const std::bad_alloc&) {}
  if (node != MPI_COMM_NULL) PMPI_Comm_free(&node);
}

communicator* find_communicator(MPI_Comm which) noexcept {
  if (key == MPI_KEYVAL_INVALID || which == MPI_COMM_NULL) return nullptr;
  void* known = nullptr;
  int is_there = 0;
  if (PMPI_Comm_get_attr(which, key, &known, &is_there) != MPI_SUCCESS) return nullptr;
  if (is_there != 0) return static_cast<communicator*>(known);
  try {
    return make_known(which);
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}

bool is_on_this_node(MPI_Comm communicator, int peer) noexcept {
  const auto* const known = find_communicator(communicator);
  return known != nullptr && peer >= 0 && static_cast<std::size_t>(peer) < known->is_near.size() &&
         known->is_near[static_cast<std::size_t>(peer)];
}

}  // namespace adaptyst::mpi_calls
