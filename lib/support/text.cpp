// Formats numbers, durations and names for lines of a report: in a given width, and without control characters.
#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <fmt/format.h>
#include <string_view>
#include <sys/ioctl.h>
#include <unistd.h>

#include "text.hpp"

namespace adaptyst::lib {

std::string duration(double ns) {
  constexpr double hour = 3600e9;
  if (ns >= 99999.5 * hour) return fmt::format("{:.0f} d", ns / (24 * hour));
  if (ns >= 99999.5e9) return fmt::format("{:.0f} h", ns / hour);
  struct unit {
    double ns;
    const char* name;
  };
  constexpr unit units[] = {{1e9, "s"}, {1e6, "ms"}, {1e3, "us"}, {1, "ns"}};
  for (const unit& in : units) {
    const double value = ns / in.ns;
    if (value < 0.9995 && in.ns != 1) continue;
    if (in.ns == 1 && value < 99.5) return fmt::format("{:.0f} ns", value);
    if (value < 9.995) return fmt::format("{:.2f} {}", value, in.name);
    if (value < 99.95) return fmt::format("{:.1f} {}", value, in.name);
    return fmt::format("{:.0f} {}", value, in.name);
  }
  return {};
}

std::string duration(const std::optional<std::uint64_t>& ns) { return ns ? duration(static_cast<double>(*ns)) : "—"; }

std::string quantity(double value, const char* unit) {
  constexpr const char* prefixes[] = {"", "k", "M", "G", "T", "P", "E"};
  std::size_t prefix = 0;
  while (std::abs(value) >= 999.5 && prefix + 1 < std::size(prefixes)) value /= 1000, ++prefix;
  return fmt::format("{:.3g} {}{}", value, prefixes[prefix], unit);
}

std::string utc(std::time_t at) {
  std::tm parts{};
  char text[32] = {};
  if (gmtime_r(&at, &parts) == nullptr || std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts) == 0)
    return {};
  return text;
}

std::string format_number(double number) {
  std::string text = quantity(number, "");
  if (text.back() == ' ') text.pop_back();
  return text;
}

std::string format_count(std::uint64_t number) {
  if (number >= 10'000'000) return format_number(static_cast<double>(number));
  std::string text = std::to_string(number);
  for (std::size_t at = text.size(); at > 3;) text.insert(at -= 3, ",");
  return text;
}

std::string format_rounded(double number) {
  if (!(number >= 999.5 && number < 1e7)) return format_number(number);
  const double last_digit = std::pow(10, std::floor(std::log10(number)) - 2);
  return format_count(static_cast<std::uint64_t>(std::round(number / last_digit) * last_digit));
}

std::string percent(double fraction) {
  if (std::isnan(fraction)) return "—";
  if (fraction == 0) return "0%";
  if (fraction > 0 && fraction < 0.0005) return "<0.1%";
  return fraction < 99.9995 ? fmt::format("{:.1f}%", 100 * fraction) : ">9999%";
}

std::string signed_percent(double fraction) {
  if (std::isnan(fraction) || fraction == 0) return percent(fraction);
  if (std::abs(fraction) < 0.0005) return fraction < 0 ? "-<0.1%" : "+<0.1%";
  return fraction < 99.9995 ? fmt::format("{:+.1f}%", 100 * fraction) : ">+9999%";
}

namespace {

// The length of the UTF-8 character at `at`; 0 if there is none.
std::size_t character_bytes(const std::string& text, std::size_t at) {
  const auto byte = [&](std::size_t offset) {
    return at + offset < text.size() ? static_cast<unsigned char>(text[at + offset]) : 0U;
  };
  const auto continues = [&](std::size_t offset) { return (byte(offset) & 0xc0U) == 0x80U; };
  if (byte(0) < 0x80) return 1;
  if (byte(0) >= 0xc2 && byte(0) < 0xe0 && continues(1)) return 2;
  // Refuses overlong forms, surrogates, and code points beyond U+10FFFF: a terminal might interpret them differently.
  if (byte(0) == 0xe0 ? byte(1) < 0xa0 : byte(0) == 0xed && byte(1) >= 0xa0) return 0;
  if (byte(0) == 0xf0 ? byte(1) < 0x90 : byte(0) == 0xf4 && byte(1) >= 0x90) return 0;
  if (byte(0) >= 0xe0 && byte(0) < 0xf0 && continues(1) && continues(2)) return 3;
  if (byte(0) >= 0xf0 && byte(0) < 0xf5 && continues(1) && continues(2) && continues(3)) return 4;
  return 0;
}

// The code point of a character in UTF-8.
std::uint32_t decode(std::string_view text) {
  if (text.size() == 1) return static_cast<unsigned char>(text[0]);
  std::uint32_t code = static_cast<unsigned char>(text[0]) & (0x7fU >> text.size());
  for (const char next : text.substr(1)) code = code << 6 | (static_cast<unsigned char>(next) & 0x3fU);
  return code;
}

bool is_between(std::uint32_t code, std::uint32_t first, std::uint32_t last) { return first <= code && code <= last; }

bool is_control(std::uint32_t code) { return code < 0x20 || is_between(code, 0x7f, 0x9f); }

bool turns_or_ends_line(std::uint32_t code) {
  return code == 0x61c || is_between(code, 0x200e, 0x200f) || is_between(code, 0x2028, 0x202e) ||
         is_between(code, 0x2066, 0x2069);
}

}  // namespace

std::string printable(const std::string& text) {
  std::string clean;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t bytes = character_bytes(text, at);
    const std::string_view character = std::string_view(text).substr(at, bytes);
    if (bytes == 0 || is_control(decode(character)) || turns_or_ends_line(decode(character))) clean += '?';
    else clean += text.substr(at, bytes);
    at += bytes == 0 ? 1 : bytes;
  }
  return clean;
}

std::string printable_json(const std::string& text) {
  std::string made;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t bytes = std::max<std::size_t>(character_bytes(text, at), 1);
    const std::string_view character(text.data() + at, bytes);
    const std::uint32_t code = decode(character);
    if (character != "\n" && (is_control(code) || turns_or_ends_line(code))) made += fmt::format("\\u{:04x}", code);
    else made += character;
    at += bytes;
  }
  return made;
}

bool begins_character(char byte) { return (static_cast<unsigned char>(byte) & 0xc0U) != 0x80U; }

std::size_t width(const std::string& text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), begins_character));
}

std::string characters(const std::string& text, std::size_t from, std::size_t count) {
  std::string made;
  std::size_t at = 0;
  for (const char byte : text) {
    if (begins_character(byte)) ++at;
    if (at > from && at - from <= count) made += byte;
  }
  return made;
}

std::string fitted(std::string text, std::size_t max_columns) {
  if (width(text) > max_columns) {
    std::size_t kept = 0;
    std::size_t end = 0;
    while (end < text.size() && (kept += begins_character(text[end]) ? 1 : 0) < max_columns) ++end;
    text = text.substr(0, end) + "…";
  }
  return text + std::string(max_columns - std::min(max_columns, width(text)), ' ');
}

std::string cut_in_middle(const std::string& text, std::size_t max_columns) {
  const std::size_t all = width(text);
  if (max_columns == 0) return {};
  if (all <= max_columns || max_columns < 3) return fitted(text, max_columns);
  const std::size_t from = all - (max_columns - 1) / 2;  // the first character after the omitted part
  std::string made;
  std::size_t character = 0;
  for (const char byte : text) {
    if (begins_character(byte)) ++character;
    if (character <= max_columns / 2 || character > from) made += byte;
    else if (made.size() < 3 || made.compare(made.size() - 3, 3, "…") != 0) made += "…";
  }
  return fitted(made, max_columns);
}

std::string format_line(const std::string& text, std::size_t max_columns) {
  std::string line = fitted(text, max_columns);
  line.erase(line.find_last_not_of(' ') + 1);
  return line + "\n";
}

namespace {

// Whether a word is a unit of measurement, with or without a prefix, followed by any punctuation.
bool is_unit(std::string_view word) {
  while (!word.empty() && std::string_view(",.;:)").find(word.back()) != std::string_view::npos) word.remove_suffix(1);
  constexpr std::string_view whole[] = {"s", "ms", "us", "ns", "h", "d", "%", "ppm", "Hz"};
  if (std::find(std::begin(whole), std::end(whole), word) != std::end(whole)) return true;
  const bool has_prefix = !word.empty() && std::string_view("kMGTPE").find(word.front()) != std::string_view::npos;
  if (has_prefix) word.remove_prefix(1);
  constexpr std::string_view prefixed[] = {"B", "B/s", "FLOP", "FLOP/s"};
  return (has_prefix && word.empty()) ||
         std::find(std::begin(prefixed), std::end(prefixed), word) != std::end(prefixed);
}

// The end of the word that begins at `at`: with its unit, or its number after the sign.
std::size_t find_word_end(const std::string& in, std::size_t at) {
  std::size_t end = std::min(in.find(' ', at), in.size());
  while (end < in.size()) {
    const std::string_view word = std::string_view(in).substr(at, end - at);
    const std::size_t next_end = std::min(in.find(' ', end + 1), in.size());
    const std::string_view next = std::string_view(in).substr(end + 1, next_end - end - 1);
    const bool is_number = !word.empty() && word.back() >= '0' && word.back() <= '9';
    if (!(is_number && is_unit(next)) && word != "±") break;
    end = next_end;
  }
  return end;
}

}  // namespace

std::string wrapped(const std::string& sentence, std::size_t max_columns, std::size_t indent) {
  std::string out;
  std::string line(indent, ' ');
  bool begins = true;  // true at the beginning of a line
  for (std::size_t at = 0; at < sentence.size();) {
    const std::size_t end = find_word_end(sentence, at);
    const std::string word = sentence.substr(at, end - at);
    if (!begins && width(line) + 1 + width(word) > max_columns) {
      out += format_line(line, max_columns);
      line = std::string(indent + 3, ' ');
    }
    line += (begins ? "" : " ") + word;
    begins = false;
    at = end + 1;
  }
  return out + format_line(line, max_columns);
}

std::string right(const std::string& text, std::size_t max_columns) {
  return std::string(max_columns - std::min(max_columns, width(text)), ' ') + text;
}

std::string join_path(const std::vector<std::string>& path) {
  std::string made;
  for (const std::string& name : path) made += (made.empty() ? "" : " > ") + name;
  return made;
}

std::string path_label(const std::vector<std::string>& path, std::size_t max_columns) {
  if (path.empty()) return {};
  std::string label = printable(path.back());
  for (std::size_t left = path.size() - 1; left-- != 0;) {
    const std::string longer = printable(path[left]) + " > " + label;
    if (width(longer) + (left == 0 ? 0 : 4) > max_columns) return "… > " + label;
    label = longer;
  }
  return label;
}

std::size_t terminal_width(int descriptor) {
  constexpr std::size_t max_columns = 1000;
  if (const char* const variable = std::getenv("COLUMNS"); variable != nullptr) {
    const std::string_view text(variable);
    std::size_t chosen = 0;
    const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), chosen);
    if (failed == std::errc() && end == text.data() + text.size() && chosen != 0 && chosen <= max_columns)
      return chosen;
  }
  winsize now{};
  if (ioctl(descriptor, TIOCGWINSZ, &now) != 0 || now.ws_col == 0) return columns;
  return now.ws_col < max_columns ? now.ws_col : max_columns;
}

std::size_t terminal_lines(int descriptor) {
  constexpr std::size_t usual_lines = 24;
  if (isatty(descriptor) == 0) return 0;
  winsize now{};
  return ioctl(descriptor, TIOCGWINSZ, &now) == 0 && now.ws_row != 0 ? now.ws_row : usual_lines;
}

bool has_colour(int descriptor) {
  const char* const refused = std::getenv("NO_COLOR");
  const char* const kind = std::getenv("TERM");
  return isatty(descriptor) != 0 && (refused == nullptr || *refused == '\0') &&
         (kind == nullptr || std::string_view(kind) != "dumb");
}

screen find_screen(int descriptor) { return {terminal_width(descriptor), has_colour(descriptor)}; }

std::string painted(const std::string& text, text_style style) {
  return fmt::format("\033[{}m{}\033[0m", static_cast<int>(style), text);
}

std::string painted_heading(const std::string& line, bool has_colour) {
  if (!has_colour) return line;
  const std::size_t end = std::min(line.find('\n'), line.size());
  return painted(line.substr(0, end), text_style::bold) + line.substr(end);
}

std::string bar(double share, std::size_t max_columns) {
  constexpr std::array<const char*, 8> parts = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
  const auto eighths = static_cast<std::size_t>(std::clamp(share, 0.0, 1.0) * static_cast<double>(8 * max_columns));
  std::string made;
  for (std::size_t at = 0; at != eighths / 8; ++at) made += "█";
  return made + parts[eighths % 8];
}

}  // namespace adaptyst::lib
