// One report for all ranks of an MPI program.
//
//   int main(int count, char** arguments) {
//     MPI_Init(&count, &arguments);
//     adaptyst::mpi::collector collector(MPI_COMM_WORLD);
//     solve();
//     MPI_Finalize();  // rank 0 prints the report of all ranks; so does stop(), earlier
//   }
//
// Ranks do not communicate until the end. Then profiles are merged along a binomial tree, in messages of about 300
// bytes per region (docs/mpi.md). Options: <adaptyst/collector.hpp>. Link with adaptyst::mpi, and compile with your
// MPI.
//
// Requires an initialised MPI 3.0. MPI is called on the thread that constructs, stops or finalises. The report lists
// ranks that send nothing within the time limit. A rank without a partner writes its own profile and a message. After
// MPI_Abort, nothing is merged (docs/killed.md).
#ifndef ADAPTYST_MPI_HPP
#define ADAPTYST_MPI_HPP

#include <mpi.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

#include "adapter/rank_transport.hpp"

namespace adaptyst { inline namespace v1 { namespace mpi {

// Longest wait for late ranks, on each level of the merge tree.
constexpr std::chrono::seconds default_limit{30};

inline bool has_ended() noexcept {
  int finalised = 0;
  return MPI_Finalized(&finalised) == MPI_SUCCESS && finalised != 0;
}

// A communicator that the program does not use.
struct owned_communicator {
  MPI_Comm communicator;
};

// Transports bytes over a duplicate of a communicator, so that they never match a message of the program.
class transport final : public rank_transport {
 public:
  // Collective over the communicator.
  explicit transport(MPI_Comm communicator, std::chrono::seconds limit = default_limit) noexcept : limit_(limit) {
    int is_initialised = 0;
    if (MPI_Initialized(&is_initialised) != MPI_SUCCESS || is_initialised == 0) return;
    is_ready_ = MPI_Comm_dup(communicator, &communicator_) == MPI_SUCCESS && is_usable();
  }
  // Takes ownership of a communicator, and frees it.
  explicit transport(owned_communicator taken, std::chrono::seconds limit = default_limit) noexcept
      : communicator_(taken.communicator), limit_(limit) {
    is_ready_ = is_usable();
  }
  // All ranks reach this, unless a rank is lost; MPI implementations do not wait for it.
  ~transport() override {
    if (communicator_ != MPI_COMM_NULL && !has_ended()) MPI_Comm_free(&communicator_);
  }

  // False if MPI failed to make a communicator.
  bool is_ready() const noexcept { return is_ready_; }

  std::uint32_t rank() const override { return static_cast<std::uint32_t>(rank_); }
  std::uint32_t size() const override { return static_cast<std::uint32_t>(size_); }

  std::chrono::nanoseconds limit() const override { return limit_; }

  bool send(std::string_view bytes, std::uint32_t destination, std::chrono::nanoseconds patience) override {
    auto kept = std::make_unique<std::string>(bytes);
    MPI_Request sending = MPI_REQUEST_NULL;
    if (MPI_Isend(kept->data(), static_cast<int>(kept->size()), MPI_BYTE, static_cast<int>(destination), tag,
                  communicator_, &sending) != MPI_SUCCESS)
      return false;
    int is_sent = 0;
    const auto test = [&] { return MPI_Test(&sending, &is_sent, MPI_STATUS_IGNORE) != MPI_SUCCESS || is_sent != 0; };
    if (!wait(patience, test)) static_cast<void>(kept.release());  // MPI may read the bytes later
    return is_sent != 0;
  }

  std::optional<std::string> receive(std::uint32_t from, std::chrono::nanoseconds patience) override {
    const auto begin = std::chrono::steady_clock::now();
    MPI_Status status;
    int is_present = 0, count = 0;
    const auto probe = [&] {
      return MPI_Iprobe(static_cast<int>(from), tag, communicator_, &is_present, &status) != MPI_SUCCESS ||
             is_present != 0;
    };
    if (!wait(patience, probe) || is_present == 0 || MPI_Get_count(&status, MPI_BYTE, &count) != MPI_SUCCESS ||
        count < 0)
      return std::nullopt;
    // An announced message arrives only while its sender is in MPI.
    auto bytes = std::make_unique<std::string>(static_cast<std::size_t>(count), '\0');
    MPI_Request receiving = MPI_REQUEST_NULL;
    if (MPI_Irecv(bytes->data(), count, MPI_BYTE, static_cast<int>(from), tag, communicator_, &receiving) !=
        MPI_SUCCESS)
      return std::nullopt;
    int has_come = 0, failed = MPI_SUCCESS;
    const auto test = [&] {
      failed = MPI_Test(&receiving, &has_come, MPI_STATUS_IGNORE);
      return failed != MPI_SUCCESS || has_come != 0;
    };
    const auto left = patience - (std::chrono::steady_clock::now() - begin);
    if (!wait(std::max(left, std::chrono::nanoseconds(limit_)), test)) {
      static_cast<void>(bytes.release());  // MPI may write the bytes later
      return std::nullopt;
    }
    return has_come != 0 ? std::optional(std::move(*bytes)) : std::nullopt;
  }

 private:
  static constexpr int tag = 1;

  bool is_usable() noexcept {
    return MPI_Comm_set_errhandler(communicator_, MPI_ERRORS_RETURN) == MPI_SUCCESS &&
           MPI_Comm_rank(communicator_, &rank_) == MPI_SUCCESS && MPI_Comm_size(communicator_, &size_) == MPI_SUCCESS;
  }

  // Polls without a pause at first, then with growing pauses, because the other rank may need this core.
  template <class Condition>
  bool wait(std::chrono::nanoseconds patience, Condition&& holds) const {
    const auto begin = std::chrono::steady_clock::now();
    std::chrono::microseconds pause{0};
    for (int attempt = 0; !holds(); ++attempt) {
      if (std::chrono::steady_clock::now() - begin > patience) return false;
      if (attempt < 100) continue;
      pause = std::min(pause + std::chrono::microseconds(10), std::chrono::microseconds(1000));
      std::this_thread::sleep_for(pause);
    }
    return true;
  }

  MPI_Comm communicator_ = MPI_COMM_NULL;
  std::chrono::seconds limit_;
  int rank_ = 0, size_ = 0;
  bool is_ready_ = false;
};

// Merges the profiles of all ranks into one at rank 0. Empty at the other ranks, and if MPI fails. Collective.
inline std::optional<profile> merge(const profile& own, MPI_Comm communicator,
                                    std::chrono::seconds limit = default_limit) {
  transport over(communicator, limit);
  return over.is_ready() ? merge_ranks(own, over).all : std::nullopt;
}

// Collects on every rank until stop(), the destructor or MPI_Finalize, whichever comes first. Reports once, at rank 0
// of the communicator. The constructor is collective. Nothing throws.
class collector {
 public:
  explicit collector(MPI_Comm communicator, std::string_view options = {},
                     std::chrono::seconds limit = default_limit) noexcept
      : own_(options), over_(communicator, limit) {
    // MPI_Finalize deletes the attributes of MPI_COMM_SELF before all else.
    if (!over_.is_ready()) return;
    if (MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, &stop_before_end, &key_, nullptr) != MPI_SUCCESS ||
        MPI_Comm_set_attr(MPI_COMM_SELF, key_, this) != MPI_SUCCESS)
      key_ = MPI_KEYVAL_INVALID;
  }
  ~collector() {
    if (key_ != MPI_KEYVAL_INVALID && !has_ended()) {
      MPI_Comm_delete_attr(MPI_COMM_SELF, key_);  // this stops the collector
      MPI_Comm_free_keyval(&key_);
    }
    stop();
  }
  collector(const collector&) = delete;
  collector& operator=(const collector&) = delete;

  // The profile of this rank up to now. Thread-safe.
  profile snapshot() const noexcept { return own_.snapshot(); }

  // Collective. Returns the merged profile at rank 0, and a rank's own profile elsewhere.
  profile stop() noexcept {
    if (!over_.is_ready()) return own_.stop_local("MPI made no communicator for the report");
    if (!is_stopped_ && has_ended()) return own_.stop_local("MPI has been finalised already");
    is_stopped_ = true;
    return own_.stop(over_);
  }

  // Why the collector does not run, or which tool collects instead; null if it runs.
  const adaptyst::error* error() const noexcept { return own_.error(); }

 private:
  static int stop_before_end(MPI_Comm, int, void* value, void*) {
    static_cast<collector*>(value)->stop();
    return MPI_SUCCESS;
  }

  rank_collector own_;
  transport over_;
  int key_ = MPI_KEYVAL_INVALID;
  bool is_stopped_ = false;
};

}}}  // namespace adaptyst::v1::mpi

#endif
