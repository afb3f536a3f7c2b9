// Claims the name of a file until this process has written it. If two processes of one machine have the same name, they
// notice before one replaces the file of the other.
#ifndef ADAPTYST_LIB_SUPPORT_NAME_CLAIM_HPP
#define ADAPTYST_LIB_SUPPORT_NAME_CLAIM_HPP

#include <string>

#include "descriptor.hpp"

namespace adaptyst::lib {

// The claim is a socket, which disappears with its process and leaves no file. A forked child has it as well, until the
// child runs another program. A name bound by another user, other than root, does not count as taken, since any user
// can bind it.
class name_claim {
 public:
  explicit name_claim(const std::string& file);

  // Whether another process has claimed it; also false if that is unknown.
  bool is_taken() const noexcept { return is_taken_; }

 private:
  descriptor socket_;
  bool is_taken_ = false;
};

}  // namespace adaptyst::lib

#endif
