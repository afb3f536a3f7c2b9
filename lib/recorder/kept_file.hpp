// The store of this process in a file that remains if the process is killed: the flight recorder of a job that exceeds
// its time limit.
#ifndef ADAPTYST_LIB_RECORDER_KEPT_FILE_HPP
#define ADAPTYST_LIB_RECORDER_KEPT_FILE_HPP

#include <sys/types.h>

#include <adaptyst/detail/recorder_store.hpp>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "../support/descriptor.hpp"
#include "../support/threads.hpp"

namespace adaptyst::lib {

// The interval at which the process notes the time.
constexpr std::uint64_t between_signs_of_life_ns = 100'000'000;

class kept_file {
 public:
  // Creates a sparse file of 1 GiB in the directory: only used pages take room on the disk. From now on, markers record
  // there, also after this object is destroyed. Throws error, also if markers have already recorded elsewhere.
  explicit kept_file(const std::string& directory);
  ~kept_file();
  kept_file(const kept_file&) = delete;
  kept_file& operator=(const kept_file&) = delete;

  const std::string& name() const noexcept { return name_; }
  // Removes the file, once the process has reported everything. Does nothing in a forked child.
  void remove() noexcept;

 private:
  void map(const descriptor& file);
  void note_alive() const;

  std::string name_;
  pid_t process_;
  std::uint64_t began_cpu_ns_;
  detail::recorder_store* store_ = nullptr;
  std::uint64_t bytes_ = 0;
  bool has_markers_ = false;
  std::unique_ptr<periodic> alive_;
};

// The beginning of such a file. Empty: the file is of another kind.
struct kept_head {
  detail::store_head store;
  detail::store_owner owner;
};
std::optional<kept_head> read_kept_head(const descriptor& file) noexcept;

// Whether the process that has made the file still runs.
enum class kept_owner { runs, runs_another_program, has_ended, was_elsewhere };
kept_owner check_owner(const detail::store_owner& owner);

}  // namespace adaptyst::lib

#endif
