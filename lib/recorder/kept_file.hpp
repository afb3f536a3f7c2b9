// The store of this process in a file that stays when it is killed: the flight recorder of a job that hits its time
// limit.
#ifndef ADAPTYST_LIB_RECORDER_KEPT_FILE_HPP
#define ADAPTYST_LIB_RECORDER_KEPT_FILE_HPP

#include <sys/types.h>

#include <adaptyst/detail/recorder_store.hpp>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "../support/descriptor.hpp"
#include "../support/periodic.hpp"

namespace adaptyst::lib {

class kept_file {
 public:
  // A new file of its own in the directory, of 1 GiB of which what is used takes place. Markers record there from now
  // on, also after this is gone. Throws error, also where markers have recorded elsewhere before.
  explicit kept_file(const std::string& directory);
  ~kept_file();
  kept_file(const kept_file&) = delete;
  kept_file& operator=(const kept_file&) = delete;

  const std::string& name() const noexcept { return name_; }
  // It is no longer needed: the process has told what it knows. Not in a forked child.
  void remove() noexcept;

 private:
  void map(const descriptor& file);
  void sign() const;

  std::string name_;
  pid_t process_;
  std::uint64_t began_cpu_ns_;
  detail::recorder_store* store_ = nullptr;
  std::uint64_t bytes_ = 0;
  bool has_markers_ = false;
  std::unique_ptr<periodic> alive_;
};

// What such a file says first. Nothing: it is none.
struct kept_head {
  detail::store_head store;
  detail::store_owner owner;
};
std::optional<kept_head> read_kept_head(const descriptor& file) noexcept;

// What has become of the process that it belongs to.
enum class kept_owner { runs, runs_another_program, has_ended, was_elsewhere };
kept_owner check_owner(const detail::store_owner& owner);

}  // namespace adaptyst::lib

#endif
