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
  if (!asked.output.empty()) write_file(expand(asked.output), to_json(what));
}

}  // namespace adaptyst::lib
