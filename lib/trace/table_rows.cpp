// Decides whether pages can be read, and leaves to SQLite what the pages' reader does not understand.
#include "table_rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <tuple>
#include <utility>

#include "../support/error.hpp"

namespace adaptyst::lib {

table_rows::table_rows(const sqlite_database& in, std::string table, const std::vector<column>& wanted, source from)
    : in_(in), table_(std::move(table)), wanted_(wanted), values_(wanted.size()) {
  std::vector<const char*> names;
  names.reserve(wanted.size());
  for (const column& one : wanted) names.push_back(one.names);
  question_ = in_.select(table_, names) + " WHERE rowid BETWEEN ? AND ? ORDER BY rowid";
  if (from == source::pages_or_sql) find_columns();
}

table_rows::~table_rows() { end(); }

// Where each column is in a record. Of a column that is a name of the row's number, or is computed, the record does not have
// the value.
void table_rows::find_columns() {
  struct candidate {
    std::size_t wanted, rank;
    sqlite_pages::column column;
  };
  std::vector<candidate> candidates;
  sqlite_statement about = in_.prepare(fmt::format("PRAGMA table_xinfo({})", quoted_name(table_)), table_);
  for (std::size_t place = 0; about.step(); ++place) {
    const std::string name(about.text(1));
    if (about.integer(6) != 0 || is_same_name(name, "rowid")) return;
    for (std::size_t at = 0; at != wanted_.size(); ++at) {
      std::string_view names = wanted_[at].names;
      for (std::size_t rank = 0; !names.empty(); ++rank) {
        const std::string_view one = names.substr(0, names.find('|'));
        names.remove_prefix(std::min(names.size(), one.size() + 1));
        if (!is_same_name(one, name)) continue;
        if (about.integer(5) != 0) return;
        candidates.push_back({at, rank, {place, at, wanted_[at].is_text, !about.is_null(4)}});
      }
    }
  }
  std::sort(candidates.begin(), candidates.end(), [](const candidate& a, const candidate& b) {
    return std::tie(a.wanted, a.rank) < std::tie(b.wanted, b.rank);
  });
  std::vector<sqlite_pages::column> found;
  for (std::size_t at = 0; at != candidates.size(); ++at) {
    candidate& one = candidates[at];
    if (at != 0 && candidates[at - 1].wanted == one.wanted) {
      one.column.value = values_.size();
      others_.emplace_back(one.wanted, values_.size());
      values_.emplace_back();
    }
    found.push_back(one.column);
  }
  std::sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.place < b.place; });
  // One that is wanted twice is a case for SQLite.
  for (std::size_t at = 1; at < found.size(); ++at)
    if (found[at].place == found[at - 1].place) return;
  pages_.emplace(in_, std::move(found));
}

void table_rows::choose_present() {
  for (const auto& [wanted, other] : others_)
    if (values_[wanted].integer == 0 && values_[wanted].text.empty()) values_[wanted] = values_[other];
}

// In the transaction, since a table may be made anew at another place.
std::uint32_t table_rows::find_root() const {
  sqlite_statement found =
      in_.prepare("SELECT rootpage FROM sqlite_master WHERE type = 'table' AND name = ? COLLATE NOCASE", table_);
  found.bind_text(1, table_);
  return found.step() && found.integer(0) > 0 && found.integer(0) <= 0xfffffffe
             ? static_cast<std::uint32_t>(found.integer(0))
             : 0;
}

void table_rows::start(std::int64_t first, std::int64_t last) {
  end();
  first_ = first;
  last_ = last;
  has_row_ = false;
  in_.run("BEGIN");
  is_open_ = true;
  std::fill(values_.begin(), values_.end(), row_value());
  const std::uint32_t root = find_root();
  reads_pages_ = pages_ && root != 0 && !in_.has_log() && pages_->start(root, first, last);
  if (!reads_pages_) ask(first);
}

void table_rows::ask(std::int64_t first) {
  rows_ = in_.prepare(question_, table_);
  rows_.bind(1, first);
  rows_.bind(2, last_);
}

bool table_rows::leave_pages(sqlite_pages::found how) {
  if (how == sqlite_pages::found::end) {
    end();
    return false;
  }
  has_row_ = pages_->has_row();
  row_ = pages_->row();
  reads_pages_ = false;
  // SQLite would begin behind the contradiction, and not see it.
  if (how == sqlite_pages::found::out_of_order) fail_order();
  if (has_row_ && row_ == last_) {
    end();
    return false;
  }
  ask(has_row_ ? row_ + 1 : first_);
  return step_statement();
}

std::string table_rows::where() const {
  return has_row_ ? fmt::format(", behind row {}", row_) : fmt::format(", at row {} or behind", first_);
}

void table_rows::fail_order() const {
  throw error(fmt::format("{}, table {}{}: rows are out of their order", in_.file(), table_, where()), in_.file(), 0,
              "the file is damaged: export it again, or copy it again");
}

bool table_rows::step_statement() {
  const bool has_more = is_open_ && rows_.step([this] { return where(); });
  if (!has_more) {
    end();
    return false;
  }
  for (std::size_t at = 0; at != wanted_.size(); ++at) {
    const auto place = static_cast<int>(at);
    row_value& value = values_[at];
    const std::optional<std::int64_t> number = wanted_[at].is_text ? std::nullopt : rows_.number(place);
    // Before the text is asked for, which may convert the value. An empty one is no NULL, as on pages.
    value.is_null = wanted_[at].is_text ? rows_.is_null(place) : !number;
    value.text = wanted_[at].is_text ? rows_.text(place) : std::string_view();
    value.integer = number.value_or(0);
  }
  // SQLite walks a damaged tree as it is, in which the same rows may stand any number of times.
  const std::int64_t row = rows_.integer(static_cast<int>(wanted_.size()));
  if (row < first_ || (has_row_ && row <= row_)) fail_order();
  row_ = row;
  has_row_ = true;
  return true;
}

void table_rows::end() noexcept {
  rows_ = {};
  if (!std::exchange(is_open_, false)) return;
  try {
    in_.run("COMMIT");
  } catch (const std::exception&) {  // nothing was written
  }
}

}  // namespace adaptyst::lib
