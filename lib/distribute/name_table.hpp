// Numbers for names, the same for all threads of a rank.
#ifndef ADAPTYST_LIB_DISTRIBUTE_NAME_TABLE_HPP
#define ADAPTYST_LIB_DISTRIBUTE_NAME_TABLE_HPP

#include <cstdint>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

namespace adaptyst::lib {

class name_table {
 public:
  // Thread-safe.
  std::uint32_t find(const std::string& name) {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto [entry, is_new] = numbers_.try_emplace(name, static_cast<std::uint32_t>(texts_.size()));
    if (is_new) texts_.push_back(name);
    return entry->second;
  }
  // Call only while no thread uses find().
  const std::vector<std::string>& texts() const noexcept { return texts_; }

 private:
  std::mutex mutex_;
  std::unordered_map<std::string, std::uint32_t> numbers_;
  std::vector<std::string> texts_;
};

}  // namespace adaptyst::lib

#endif
