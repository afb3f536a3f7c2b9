// A result in a form: what has a to_json(), a to_html() and a to_table() can be written by every command and collector.
#ifndef ADAPTYST_LIB_REPORT_RENDER_HPP
#define ADAPTYST_LIB_REPORT_RENDER_HPP

#include <adaptyst/options.hpp>
#include <string>

namespace adaptyst::lib {

// `form` is one that is made of a profile (output_form.hpp). `how`: what the table wants besides the result.
template <class Result, class... How>
std::string render(output_form form, const Result& what, const How&... how) {
  switch (form) {
    case output_form::json: return to_json(what);
    case output_form::html: return to_html(what);
    default: return to_table(what, how...);
  }
}

}  // namespace adaptyst::lib

#endif
