// What a person would say who looks at the windows and names of an analysis.
#ifndef ADAPTYST_LIB_ANALYSE_VARIABILITY_FIND_FINDINGS_HPP
#define ADAPTYST_LIB_ANALYSE_VARIABILITY_FIND_FINDINGS_HPP

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "variability.hpp"

namespace adaptyst::lib {

std::vector<variability_finding> find_findings(
    const variability_result& result, const std::map<std::pair<std::uint32_t, std::uint32_t>, const name_sums*>& sums);

}  // namespace adaptyst::lib

#endif
