// From what a source has read, and the processes that it comes from, to a profile.
#ifndef ADAPTYST_LIB_SESSION_ASSEMBLY_HPP
#define ADAPTYST_LIB_SESSION_ASSEMBLY_HPP

#include <functional>
#include <optional>

#include "../profile/region_list.hpp"
#include "target.hpp"
#include "thread_context.hpp"

namespace adaptyst::lib {

struct assembly_parts {
  const measured& rows;
  std::optional<path_set> changed;  // since the last assembly; nothing: any of the rows
  const target_list& of;
  const event_costs& costs;
  bool costs_are_known;  // of all regions
  thread_context* context = nullptr;
  std::optional<context_sums> known;  // by the context, if it is to be told
};

// Kept from one profile to the next, so that regions cost what has changed.
class assembly {
 public:
  using choice = std::function<bool(const region&)>;

  // With the regions that are `wanted`; where the context is told, with all.
  profile make(assembly_parts from, const choice& wanted);

 private:
  region_list regions_;
};

}  // namespace adaptyst::lib

#endif
