// A page that opens anywhere, offline: lib/report/page/, as it is built in, around what it shows.
#ifndef ADAPTYST_LIB_REPORT_PAGE_SHELL_HPP
#define ADAPTYST_LIB_REPORT_PAGE_SHELL_HPP

#include <cstddef>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

namespace adaptyst::lib {

// The pieces of the page before the form of its data, and behind its data. Constant, so that a report at the program's end
// finds it.
struct page_shell {
  const std::string_view* before_form;
  std::size_t before_count;
  const std::string_view* after_data;
  std::size_t after_count;
};
extern const page_shell shell_of_profile, shell_of_comparison, shell_of_timeline, shell_of_variability;

// What a page reads when it has drawn its first picture, by the id of its element; any bytes.
struct page_section {
  std::string id, bytes;
};

// A page of this kind with this JSON in it: as it is where that is short, and compressed otherwise. No name in it can end the element
// that it stands in. Sections stand behind the script, compressed, before the last piece of the shell.
std::string make_page(const page_shell& shell, const std::string& json, const std::vector<page_section>& sections = {});

}  // namespace adaptyst::lib

#endif
