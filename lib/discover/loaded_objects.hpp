// The ELF objects of this process that carry markers.
#ifndef ADAPTYST_LIB_DISCOVER_LOADED_OBJECTS_HPP
#define ADAPTYST_LIB_DISCOVER_LOADED_OBJECTS_HPP

#include <string>
#include <vector>

#include "foreign_object.hpp"

namespace adaptyst::lib {

// Their files, the executable as /proc/self/exe. A file that is loaded twice is named once.
std::vector<std::string> files_with_markers();
std::vector<foreign_object> foreign_objects();

}  // namespace adaptyst::lib

#endif
