// Advice as JSON (docs/advice.md has its keys), and for people.
#ifndef ADAPTYST_LIB_REPORT_ADVICE_FORMS_HPP
#define ADAPTYST_LIB_REPORT_ADVICE_FORMS_HPP

#include <adaptyst/advisor.hpp>
#include <string>
#include <vector>

#include "text_table.hpp"

namespace adaptyst::lib {

struct advised_input {
  feature_values features;
  advice given;
};

struct advice_report {
  std::size_t profiles = 0;
  std::vector<std::string> chain, features;
  std::vector<advised_device> devices;
  advice_objective objective = advice_objective::latency;
  advice_execution execution = advice_execution::one_at_a_time;
  advice_limits limits;
  std::vector<advised_input> inputs;
  std::vector<std::string> remarks;
};

std::string to_json(const advice_report& report);
std::string to_table(const advice_report& report);
// A row for each region, device and input, with its cost.
text_table to_rows(const advice_report& report);

}  // namespace adaptyst::lib

#endif
