// Reads the metadata that a process has set with adaptyst::metadata().
#ifndef ADAPTYST_LIB_RECORDER_METADATA_READER_HPP
#define ADAPTYST_LIB_RECORDER_METADATA_READER_HPP

#include <cstdint>
#include <map>
#include <string>

#include "recorder_reader.hpp"

namespace adaptyst::lib {

struct program_metadata {
  std::map<std::string, std::string> values;
  std::uint64_t lost = 0;  // calls without room for their data
};

program_metadata read_metadata(const process_state& state);

}  // namespace adaptyst::lib

#endif
