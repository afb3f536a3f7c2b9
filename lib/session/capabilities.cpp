#include "capabilities.hpp"

#include <linux/capability.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>

#include "../support/error.hpp"

namespace adaptyst::lib {

void keep_capabilities(const std::vector<unsigned>& kept) {
  constexpr unsigned bits = 32;
  std::uint32_t mask[_LINUX_CAPABILITY_U32S_3] = {};
  for (const unsigned one : kept) mask[one / bits] |= std::uint32_t{1} << one % bits;
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct sets[_LINUX_CAPABILITY_U32S_3] = {};
  bool done = syscall(SYS_capget, &header, sets) == 0;
  bool has_more = false;
  for (unsigned at = 0; at != _LINUX_CAPABILITY_U32S_3; ++at) {
    has_more = has_more || ((sets[at].effective | sets[at].permitted | sets[at].inheritable) & ~mask[at]) != 0;
    sets[at].effective &= mask[at];
    sets[at].permitted &= mask[at];
    sets[at].inheritable &= mask[at];
  }
  done = done && (!has_more || syscall(SYS_capset, &header, sets) == 0);
  if (!done) throw error("cannot give up capabilities", errno, "allow capset()");
}

}  // namespace adaptyst::lib
