#include "outputs.hpp"

#include <cstdio>
#include <string>

#include "../support/output_file.hpp"

namespace adaptyst::lib {

void put_out(const profile& what, const options& asked) {
  if (asked.report == report_choice::table) {
    const std::string table = to_table(what);
    std::fwrite(table.data(), 1, table.size(), stderr);
  }
  for (const output& one : asked.outputs) {
    if (one.form == output_form::json) write_file(expand(one.file), to_json(what));
    if (one.form == output_form::table) write_file(expand(one.file), to_table(what));
  }
}

}  // namespace adaptyst::lib
