// A machine's ceilings for people, and as the file in which they are kept; docs/ceilings.md lists its keys.
#ifndef ADAPTYST_LIB_REPORT_CEILINGS_FORMS_HPP
#define ADAPTYST_LIB_REPORT_CEILINGS_FORMS_HPP

#include <optional>
#include <string>
#include <string_view>

#include "../profile/measured_ceilings.hpp"
#include "text_table.hpp"

namespace adaptyst::lib {

std::string to_json(const measured_ceilings& ceilings);
std::string to_table(const measured_ceilings& ceilings);
text_table to_rows(const measured_ceilings& ceilings);
// Throws error, with the place of what is wrong.
measured_ceilings ceilings_from_json(std::string_view text);

// Where a machine's ceilings are kept unless another file is named: $XDG_CACHE_HOME/adaptyst/ceilings-HOST.json, or
// ~/.cache/adaptyst/…. Empty: neither variable is set, or there is no name of a host.
std::string usual_ceilings_file(const std::string& host);
// Makes the folder of the usual file. Throws error.
void write_ceilings(const std::string& file, const measured_ceilings& ceilings);
measured_ceilings read_ceilings(const std::string& file);

// Why these ceilings are not those of a machine; empty: they are. `cpu`: its processor, empty where that is not known.
std::string find_mismatch(const measured_ceilings& ceilings, const std::string& host, const std::string& cpu);

}  // namespace adaptyst::lib

#endif
