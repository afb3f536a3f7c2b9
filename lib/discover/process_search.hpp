// Which running processes carry markers, for callers that ask again and again: find() costs a list of processes, and a
// look at those that are new. The others are looked at again after ever longer times, a minute at most, since a process
// may load a library with markers late.
#ifndef ADAPTYST_LIB_DISCOVER_PROCESS_SEARCH_HPP
#define ADAPTYST_LIB_DISCOVER_PROCESS_SEARCH_HPP

#include <cstdint>
#include <memory>
#include <vector>

namespace adaptyst { inline namespace v1 {

class process_search {
 public:
  process_search();
  ~process_search();
  process_search(const process_search&) = delete;
  process_search& operator=(const process_search&) = delete;

  // Processes of our own user, or of all users for root; without this process.
  std::vector<std::int64_t> find();

 private:
  struct state;
  std::unique_ptr<state> state_;
};

}}  // namespace adaptyst::v1

#endif
