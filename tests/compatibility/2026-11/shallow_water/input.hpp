// Reads a setup from text: a line `key = value …` each, `#` begins a comment. dam_break.txt shows all keys.
#ifndef SHALLOW_WATER_INPUT_HPP
#define SHALLOW_WATER_INPUT_HPP

#include <istream>
#include <stdexcept>
#include <string>

#include "setup.hpp"

namespace shallow_water {

// what(): "file:line: what is wrong; what to do"
class input_error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

setup read_setup(const std::string& file);
setup read_setup(std::istream& from, const std::string& file);  // `file`: its name in messages

}  // namespace shallow_water

#endif
