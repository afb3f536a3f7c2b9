// The ELF objects of this process that carry markers.
#ifndef ADAPTYST_LIB_DISCOVER_LOADED_OBJECTS_HPP
#define ADAPTYST_LIB_DISCOVER_LOADED_OBJECTS_HPP

#include <string>
#include <vector>

#include "foreign_object.hpp"
#include "process_objects.hpp"

namespace adaptyst::lib {

// As the loader knows them. Their files are those that are mapped, whatever their names lead to now: a library may have
// been replaced or removed since, or have come from memory.
std::vector<process_object> loaded_objects();
std::vector<foreign_object> foreign_objects();

}  // namespace adaptyst::lib

#endif
