// What a report is about.
#ifndef ADAPTYST_LIB_REPORT_SUBJECT_HPP
#define ADAPTYST_LIB_REPORT_SUBJECT_HPP

#include <adaptyst/profile.hpp>
#include <string>

namespace adaptyst::lib {

// Which processes, and how long: "16 ranks on 4 hosts, 32.1 s in sum"; empty: none is known.
std::string describe_subject(const profile& profile);

}  // namespace adaptyst::lib

#endif
