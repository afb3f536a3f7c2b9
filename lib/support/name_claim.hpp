// Claims the name of a file for as long as this process means to write it: if two processes of one machine were given
// the same name, they notice before one replaces the file of the other.
#ifndef ADAPTYST_LIB_SUPPORT_NAME_CLAIM_HPP
#define ADAPTYST_LIB_SUPPORT_NAME_CLAIM_HPP

#include <string>

#include "descriptor.hpp"

namespace adaptyst::lib {

// It is a socket: it goes with its process, however that ends, and leaves no file. A child that the process forks has
// it as well, until it runs another program. A name that another user has bound, other than root, is not taken: anybody
// can bind it.
class name_claim {
 public:
  explicit name_claim(const std::string& file);

  // Whether another process has it; false as well where that cannot be found out.
  bool is_taken() const noexcept { return is_taken_; }

 private:
  descriptor socket_;
  bool is_taken_ = false;
};

}  // namespace adaptyst::lib

#endif
