// Both sides of the exchange with the child process that reads symbols.
#include "symbol_child.hpp"

#include <adaptyst/detail/clock.hpp>
#include <algorithm>
#include <cstring>
#include <map>
#include <memory>
#include <string_view>

namespace adaptyst::lib {

namespace {

constexpr unsigned max_ends = 400;  // the number of files
constexpr limited_child::limits symbol_limits{"adaptyst-names", "functions have no names", 5'000'000'000,
                                              10'000'000'000,   std::uint64_t{4} << 30U,   max_ends};
constexpr std::uint64_t max_file_ns = 20'000'000'000, max_all_ns = 120'000'000'000;
constexpr std::size_t max_text_bytes = std::size_t{60} << 10U;

enum class question_kind : std::uint32_t { names, place };

// Texts end in a null byte.
std::string join(const std::vector<std::string>& texts) {
  std::string made;
  for (const std::string& text : texts) {
    if (made.size() + text.size() + 1 > max_text_bytes) break;
    made.append(text, 0, text.find('\0'));
    made += '\0';
  }
  return made;
}

std::vector<std::string> split(std::string_view texts) {
  std::vector<std::string> made;
  for (std::size_t end = 0; (end = texts.find('\0')) != std::string_view::npos; texts.remove_prefix(end + 1))
    made.emplace_back(texts.substr(0, end));
  return made;
}

}  // namespace

struct symbol_child::question {
  question_kind what;
  std::uint32_t number;
  std::uint64_t at;
};

struct symbol_child::answer {
  std::uint64_t begin, into;
  std::uint32_t line, is_stripped;
};

symbol_child::symbol_child() : child_(symbol_limits, serve) {}

void symbol_child::serve(int socket) {
  std::map<std::uint32_t, std::unique_ptr<const file_symbols>> files;
  question request{};
  for (int along = -1; receive_message(socket, request, nullptr, 0, along) >= 0;) {
    const descriptor given(along);
    std::unique_ptr<const file_symbols>& file = files[request.number];
    if (given) file = std::make_unique<const file_symbols>(given.get());
    if (file == nullptr) return;
    answer made{};
    std::string texts;
    if (request.what == question_kind::names) {
      const code_names found = file->names_at(request.at);
      made.begin = found.begin;
      made.is_stripped = found.is_stripped ? 1 : 0;
      texts = join(found.functions);
    } else {
      const code_place found = file->place_at(request.at);
      made.into = found.into;
      made.line = found.line;
      texts = join({found.function, found.file});
    }
    if (!send_message(socket, made, texts.data(), texts.size(), -1)) return;
  }
}

std::optional<std::vector<std::string>> symbol_child::ask(const question& what, int opened, answer& got) {
  if (all_used_ns_ > max_all_ns) refused_.insert(what.number);
  if (is_refused(what.number)) return std::nullopt;
  bool is_sent = false;
  constexpr int max_attempts = 2;  // the first attempt fails if the child has ended without a question
  for (int attempt = 0; !is_sent && attempt != max_attempts; ++attempt) {
    if (attempt != 0) child_.end();
    if (!child_.ensure()) return std::nullopt;
    if (child_number_ != child_.number()) sent_.clear();
    child_number_ = child_.number();
    is_sent = child_.send(what, sent_.count(what.number) != 0 ? -1 : opened);
  }
  if (!is_sent) return std::nullopt;
  sent_.insert(what.number);
  std::vector<char> texts(max_text_bytes);
  const std::uint64_t begun_ns = detail::monotonic_ns();
  const ssize_t bytes = child_.receive(got, texts.data(), texts.size());
  const std::uint64_t taken_ns = detail::monotonic_ns() - begun_ns;
  all_used_ns_ += taken_ns;
  if ((used_ns_[what.number] += taken_ns) > max_file_ns) refused_.insert(what.number);
  if (bytes >= 0) return split({texts.data(), static_cast<std::size_t>(bytes)});
  refused_.insert(what.number);
  return std::nullopt;
}

std::optional<code_names> symbol_child::names_at(std::uint32_t number, int opened, std::uint64_t offset) {
  answer got{};
  std::optional<std::vector<std::string>> functions = ask({question_kind::names, number, offset}, opened, got);
  if (!functions) return std::nullopt;
  return code_names{std::move(*functions), got.begin, got.is_stripped != 0};
}

std::optional<code_place> symbol_child::place_at(std::uint32_t number, int opened, std::uint64_t from_base) {
  answer got{};
  const std::optional<std::vector<std::string>> texts = ask({question_kind::place, number, from_base}, opened, got);
  if (!texts || texts->size() != 2) return std::nullopt;
  return code_place{texts->front(), texts->back(), got.line, got.into};
}

}  // namespace adaptyst::lib
