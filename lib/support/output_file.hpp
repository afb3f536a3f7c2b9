// Writes a report to a file, all of it or nothing.
#ifndef ADAPTYST_LIB_SUPPORT_OUTPUT_FILE_HPP
#define ADAPTYST_LIB_SUPPORT_OUTPUT_FILE_HPP

#include <string>

namespace adaptyst::lib {

// Replaces `name` in one step, so that no reader and no full disk ever sees half a file. Follows no link. Throws error.
void write_file(const std::string& name, const std::string& text);

}  // namespace adaptyst::lib

#endif
