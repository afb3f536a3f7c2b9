// The JSON of a profile, for those who do not want it as one text.
#ifndef ADAPTYST_LIB_REPORT_JSON_HPP
#define ADAPTYST_LIB_REPORT_JSON_HPP

#include <adaptyst/profile.hpp>
#include <string>

#include "../support/output_file.hpp"

namespace adaptyst::lib {

// Piece by piece.
void write_json(const profile& from, const text_taker& taker);
// What a page shows of it, on one line.
std::string to_page_json(const profile& from);

}  // namespace adaptyst::lib

#endif
