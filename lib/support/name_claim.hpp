// The name of a file to be written, as long as somebody is about to write it: two processes of one machine that were told the
// same name notice it before one of them replaces what the other has written.
#ifndef ADAPTYST_LIB_SUPPORT_NAME_CLAIM_HPP
#define ADAPTYST_LIB_SUPPORT_NAME_CLAIM_HPP

#include <string>

#include "descriptor.hpp"

namespace adaptyst::lib {

// It is a socket that nobody connects to: gone with its process, however that ends, and no file that is left. A child that
// the process forks has it as well, until it runs another program.
class name_claim {
 public:
  explicit name_claim(const std::string& file);

  // Whether another has it. Where it cannot be told, nobody has.
  bool is_taken() const noexcept { return is_taken_; }

 private:
  descriptor socket_;
  bool is_taken_ = false;
};

}  // namespace adaptyst::lib

#endif
