// A look at files and processes that changes nothing, and costs the process that is looked at nothing.
//
//   for (const adaptyst::marked_object& object : adaptyst::inspect_file("./solver").objects)
//     for (const adaptyst::probe& one : object.probes) std::cout << one.name << '\n';
//
// Functions throw adaptyst::error, which says what failed, why, and what to do.
#ifndef ADAPTYST_LIB_SESSION_INSPECT_HPP
#define ADAPTYST_LIB_SESSION_INSPECT_HPP

#include <cstdint>
#include <string>

#include "../discover/inspection.hpp"

namespace adaptyst { inline namespace v1 {

// Reads an ELF file, running or not. A file without markers is no error.
inspection inspect_file(const std::string& file);
// Reads everything that a process has mapped. Reading markers needs the rights of ptrace; all else only needs the list
// of mappings to be readable.
inspection inspect_process(std::int64_t process);

}}  // namespace adaptyst::v1

#endif
