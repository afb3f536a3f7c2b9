// Reads files and processes without changing them, and at no cost to a process.
//
//   for (const adaptyst::marked_object& object : adaptyst::inspect_file("./solver").objects)
//     for (const adaptyst::probe& one : object.probes) std::cout << one.name << '\n';
//
// Functions throw adaptyst::error: what failed, why, and what to do.
#ifndef ADAPTYST_LIB_SESSION_INSPECT_HPP
#define ADAPTYST_LIB_SESSION_INSPECT_HPP

#include <cstdint>
#include <string>

#include "../discover/inspection.hpp"

namespace adaptyst { inline namespace v1 {

// Reads an ELF file, running or not. A file without markers is no error.
inspection inspect_file(const std::string& file);
// Reads all files that a process has mapped. Reading markers needs the rights of ptrace; all else needs only a readable
// list of mappings.
inspection inspect_process(std::int64_t process);

}}  // namespace adaptyst::v1

#endif
