// Puts the data into the built-in HTML page: escaped, or compressed if the data is long.
#include "page_shell.hpp"

#include <zlib.h>

#include <new>

namespace adaptyst::lib {

namespace {

// Above this size, compression reduces the file to a third; below, readable data is more useful.
constexpr std::size_t max_plain_bytes = 32768;
// With sections, the sections determine the size of the file. Plain data lets the browser draw the first picture
// without waiting for decompression.
constexpr std::size_t max_plain_bytes_before_sections = 2'000'000;

// "<" would begin an end tag or a comment.
std::string escaped(const std::string& json) {
  std::string made;
  made.reserve(json.size());
  for (const char c : json)
    if (c == '<') made += "\\u003c";
    else made += c;
  return made;
}

// RFC 1950, which browsers call "deflate".
std::string compressed(const std::string& text) {
  uLongf size = compressBound(static_cast<uLong>(text.size()));
  std::string made(size, '\0');
  const int status =
      compress2(reinterpret_cast<Bytef*>(made.data()), &size, reinterpret_cast<const Bytef*>(text.data()),
                static_cast<uLong>(text.size()), Z_BEST_COMPRESSION);
  if (status != Z_OK) throw std::bad_alloc();  // the buffer is large enough, so memory is missing
  made.resize(size);
  return made;
}

// RFC 4648.
std::string to_base64(const std::string& bytes) {
  constexpr std::string_view letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  const auto byte = [&](std::size_t at) {
    return at < bytes.size() ? static_cast<unsigned>(static_cast<unsigned char>(bytes[at])) : 0U;
  };
  std::string made;
  made.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t at = 0; at < bytes.size(); at += 3) {
    const unsigned three = byte(at) << 16U | byte(at + 1) << 8U | byte(at + 2);
    for (const unsigned shift : {18U, 12U, 6U, 0U}) made += letters[three >> shift & 63U];
  }
  for (std::size_t missing = (3 - bytes.size() % 3) % 3; missing != 0; --missing) made[made.size() - missing] = '=';
  return made;
}

}  // namespace

std::string make_page(const page_shell& shell, const std::string& json, const std::vector<page_section>& sections) {
  const bool is_plain = json.size() <= (sections.empty() ? max_plain_bytes : max_plain_bytes_before_sections);
  std::string page;
  for (std::size_t at = 0; at != shell.before_count; ++at) page += shell.before_form[at];
  page += is_plain ? "json\">" : "deflate\">";
  page += is_plain ? escaped(json) : to_base64(compressed(json));
  for (std::size_t at = 0; at + 1 != shell.after_count; ++at) page += shell.after_data[at];
  for (const page_section& section : sections)
    page += "<script id=\"" + section.id + "\" type=\"text/plain\" data-form=\"deflate\">" +
            to_base64(compressed(section.bytes)) + "</script>\n";
  page += shell.after_data[shell.after_count - 1];
  return page;
}

}  // namespace adaptyst::lib
