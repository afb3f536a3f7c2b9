#include "outputs.hpp"

#include <cstdio>
#include <exception>
#include <string>

#include "../support/error.hpp"
#include "../support/output_file.hpp"

namespace adaptyst::lib {

void put_out(const profile& what, const options& asked) {
  if (asked.report == report_choice::table) {
    const std::string table = to_table(what);
    std::fwrite(table.data(), 1, table.size(), stderr);
  }
  std::exception_ptr first;
  for (const output& one : asked.outputs) {
    try {
      if (one.form == output_form::json) write_file(expand(one.file), to_json(what));
      if (one.form == output_form::table) write_file(expand(one.file), to_table(what));
    } catch (const error& failed) {  // the others can be had all the same
      if (first) complain(failed.what());
      else first = std::current_exception();
    }
  }
  if (first) std::rethrow_exception(first);
}

}  // namespace adaptyst::lib
