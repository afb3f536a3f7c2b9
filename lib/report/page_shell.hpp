// An HTML file that opens in any browser, offline: the built-in lib/report/page/ with the data.
#ifndef ADAPTYST_LIB_REPORT_PAGE_SHELL_HPP
#define ADAPTYST_LIB_REPORT_PAGE_SHELL_HPP

#include <cstddef>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

namespace adaptyst::lib {

// The pieces of the page before the form of the data, and after the data. Constants, because a report at the program's
// end needs them.
struct page_shell {
  const std::string_view* before_form;
  std::size_t before_count;
  const std::string_view* after_data;
  std::size_t after_count;
};
extern const page_shell shell_of_profile, shell_of_comparison, shell_of_timeline, shell_of_variability, shell_of_stack;

// Bytes that a page reads after it has drawn its first picture, by the id of their element.
struct page_section {
  std::string id, bytes;
};

// A page of this kind with this JSON: short JSON as text, long JSON compressed. No name in the JSON can end the element
// that contains it. Compressed sections follow the script, before the last piece of the shell.
std::string make_page(const page_shell& shell, const std::string& json, const std::vector<page_section>& sections = {});

}  // namespace adaptyst::lib

#endif
