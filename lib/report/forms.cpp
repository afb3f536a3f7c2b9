// The writers of a profile, by form.
#include "forms.hpp"

#include <adaptyst/profile.hpp>

#include "foreign_forms.hpp"

namespace adaptyst::lib {

namespace {

struct form_writer {
  output_form form;
  std::string (*make)(const profile& what, const table_options& how);
};

constexpr form_writer writers[] = {
    {output_form::html, [](const profile& what, const table_options&) { return to_html(what); }},
    {output_form::csv, [](const profile& what, const table_options& how) { return to_csv(what, how); }},
    {output_form::pprof, [](const profile& what, const table_options&) { return to_pprof(what); }},
    {output_form::caliper, [](const profile& what, const table_options&) { return to_caliper(what); }},
    {output_form::talp, [](const profile& what, const table_options&) { return to_talp(what); }},
    {output_form::table, [](const profile& what, const table_options& how) { return to_table(what, how); }}};

}  // namespace

void write_profile_as(output_form form, const std::string& file, const profile& what, const table_options& how,
                      metrics_regions* listed) {
  if (form == output_form::json) return write_file(file, [&](const text_taker& to) { write_json(what, to); });
  if (form == output_form::prometheus) {
    metrics_regions none;
    return write_file(file, to_metrics(what, metrics_syntax::text, listed != nullptr ? *listed : none));
  }
  for (const form_writer& writer : writers) {
    if (writer.form != form) continue;
    const std::string made = writer.make(what, how);
    const bool is_text = form != output_form::pprof;  // then bytes that are no UTF-8 are replaced
    return is_text ? write_file(file, made) : write_file(file, [&](const text_taker& to) { to(made); });
  }
}

}  // namespace adaptyst::lib
