// The payload of a call of MPI: the number of bytes sent, and a label if the user has requested it.
#ifndef ADAPTYST_ADAPTERS_MPI_MESSAGE_HPP
#define ADAPTYST_ADAPTERS_MPI_MESSAGE_HPP

#include <mpi.h>

#include <adaptyst/region.hpp>
#include <cstddef>
#include <cstdint>

namespace adaptyst::mpi_calls {

constexpr int no_peer = MPI_PROC_NULL;
constexpr std::uint64_t no_bytes = ~std::uint64_t{0};  // no data is sent, or the amount is unknown

// The number of bytes that this rank sends. The MPI functions called here are local.
inline std::uint64_t bytes(int count, MPI_Datatype type) noexcept {
  int size = 0;
  if (count <= 0 || type == MPI_DATATYPE_NULL || PMPI_Type_size(type, &size) != MPI_SUCCESS || size < 0) return 0;
  return static_cast<std::uint64_t>(count) * static_cast<std::uint64_t>(size);
}
// With MPI_IN_PLACE, the other arguments are not used, and the result is 0.
inline std::uint64_t own_bytes(const void* sent, int count, MPI_Datatype type) noexcept {
  return sent == MPI_IN_PLACE ? 0 : bytes(count, type);
}
// To the root. Between two groups, the root and the other ranks of its group send no data.
inline std::uint64_t bytes_to(int root, const void* sent, int count, MPI_Datatype type) noexcept {
  return root == MPI_ROOT || root == MPI_PROC_NULL ? 0 : own_bytes(sent, count, type);
}
inline std::uint64_t reduced_bytes_to(int root, int count, MPI_Datatype type) noexcept {
  return root == MPI_ROOT || root == MPI_PROC_NULL ? 0 : bytes(count, type);
}
std::uint64_t all_bytes(const void* sent, int count, MPI_Datatype type, MPI_Comm communicator) noexcept;
std::uint64_t all_bytes(const void* sent, const int* counts, MPI_Datatype type, MPI_Comm communicator) noexcept;
std::uint64_t all_bytes(const void* sent, const int* counts, const MPI_Datatype* types, MPI_Comm communicator) noexcept;
std::uint64_t reduced_bytes(int count, MPI_Datatype type, MPI_Comm communicator) noexcept;
std::uint64_t reduced_bytes(const int* counts, MPI_Datatype type, MPI_Comm communicator) noexcept;
// For the root; the other ranks send no data.
std::uint64_t broadcast_bytes(int count, MPI_Datatype type, int root, MPI_Comm communicator) noexcept;
std::uint64_t scattered_bytes(int count, MPI_Datatype type, int root, MPI_Comm communicator) noexcept;
std::uint64_t scattered_bytes(const int* counts, MPI_Datatype type, int root, MPI_Comm communicator) noexcept;

class message {
 public:
  // `peer`: rank in the communicator.
  message(std::uint64_t bytes, int peer, MPI_Comm communicator) noexcept : message(bytes) {
    if (has_labels()) label(peer, communicator);
  }
  explicit message(std::uint64_t bytes) noexcept {
    if (bytes == no_bytes) values_.count = 0;
    else values_.numbers[0] = static_cast<double>(bytes);
  }

  const detail::payload_values& read() const noexcept { return values_; }

  // Whether ADAPTYST_MPI_LABELS requests a label.
  static bool has_labels() noexcept;

 private:
  void label(int peer, MPI_Comm communicator) noexcept;

  static constexpr const char* names_[1] = {"bytes"};

  detail::payload_values values_{names_, 1, {nullptr, 0}, {}};
  char label_[ADAPTYST_TEXT_BYTES];
};

struct no_message {};

}  // namespace adaptyst::mpi_calls

namespace adaptyst { inline namespace v1 { namespace detail {

template <>
struct payload_reader<mpi_calls::message, true> {
  explicit payload_reader(const mpi_calls::message& what) noexcept : what_(what) {}
  const payload_values& read() const noexcept { return what_.read(); }

 private:
  const mpi_calls::message& what_;
};

template <>
struct payload_reader<mpi_calls::no_message, true> {
  explicit payload_reader(const mpi_calls::no_message&) noexcept {}
  const payload_values& read() const noexcept { return none_; }

 private:
  payload_values none_{nullptr, 0, {nullptr, 0}, {}};
};

}}}  // namespace adaptyst::v1::detail

#endif
