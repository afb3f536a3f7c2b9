// Walks the tree of a table from leaf to leaf, and takes the wanted columns out of each record.
#include "sqlite_pages.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

namespace adaptyst::lib {

namespace {

constexpr std::size_t file_header_bytes = 100;
constexpr std::uint8_t interior_of_table = 0x05, leaf_of_table = 0x0d;
constexpr std::uint32_t interior_header_bytes = 12, leaf_header_bytes = 8;
constexpr std::size_t max_run_bytes = std::size_t{1} << 18U;
// As in SQLite.
constexpr std::uint64_t max_record_bytes = 1'000'000'000;

std::uint32_t read_16(const std::uint8_t* at) { return static_cast<std::uint32_t>(at[0]) << 8U | at[1]; }
std::uint32_t read_32(const std::uint8_t* at) { return read_16(at) << 16U | read_16(at + 2); }
std::uint64_t read_64(const std::uint8_t* at) {
  std::uint64_t made = 0;
  std::memcpy(&made, at, sizeof made);
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
  made = __builtin_bswap64(made);
#endif
  return made;
}

// Seven bits a byte, the highest first; of a ninth byte all eight. Returns what is behind it.
const std::uint8_t* read_long(const std::uint8_t* at, std::uint64_t& to) {
  std::uint64_t made = 0;
  for (int byte = 0; byte != 8; ++byte) {
    made = made << 7U | (*at & 0x7fU);
    if ((*at++ & 0x80U) == 0) {
      to = made;
      return at;
    }
  }
  to = made << 8U | *at;
  return at + 1;
}

inline const std::uint8_t* read_number(const std::uint8_t* at, std::uint64_t& to) {
  if (*at >= 0x80) return read_long(at, to);
  to = *at;
  return at + 1;
}

// How an integer of a record is made of the eight bytes at its place, by its serial type: shifted to the right, what is kept of
// it, and what is added. 0 is NULL, 7 a real number, 8 and 9 are the numbers 0 and 1, which take no bytes.
struct integer_type {
  std::uint8_t bytes, shift;
  std::int64_t keep, plus;
};
constexpr std::uint64_t real_type = 7, first_reserved_type = 10, first_text_type = 12;
constexpr integer_type integer_types[] = {{0, 0, 0, 0},   {1, 56, -1, 0}, {2, 48, -1, 0}, {3, 40, -1, 0},
                                          {4, 32, -1, 0}, {6, 16, -1, 0}, {8, 0, -1, 0},  {8, 0, 0, 0},
                                          {0, 0, 0, 0},   {0, 0, 0, 1}};

inline std::uint64_t bytes_of_type(std::uint64_t type) {
  return type < first_reserved_type ? integer_types[type].bytes : (type - first_text_type) / 2;
}

}  // namespace

sqlite_pages::sqlite_pages(const sqlite_database& in, std::vector<column> columns)
    : in_(in), columns_(std::move(columns)) {}

bool sqlite_pages::give_up(const char* why) noexcept {
  why_ = why;
  return false;
}

std::string sqlite_pages::why() const { return fmt::format("page {} {}", bad_page_, why_); }

bool sqlite_pages::read_header() {
  std::uint8_t header[file_header_bytes];
  bad_page_ = 1;
  if (!in_.read_file(0, header, sizeof header)) return give_up("is not there");
  const std::uint32_t page_bytes = read_16(header + 16) == 1 ? 65536 : read_16(header + 16);
  const bool is_power = page_bytes >= 512 && (page_bytes & (page_bytes - 1)) == 0;
  const std::uint32_t reserved = header[20];
  // What the format has always said; else it is a later one, or another's.
  const bool is_known = header[18] >= 1 && header[18] <= 2 && header[19] >= 1 && header[19] <= 2 && header[21] == 64 &&
                        header[22] == 32 && header[23] == 32;
  if (!is_power || !is_known || page_bytes - reserved < 480) return give_up("is of another format");
  constexpr std::uint32_t utf_8 = 1;
  if (read_32(header + 56) != utf_8) return give_up("has texts in another encoding");
  if (page_bytes != page_bytes_) {
    page_bytes_ = page_bytes;
    run_.assign(max_run_bytes + padding, 0);
    overflow_.assign(page_bytes + padding, 0);
    path_.clear();
  }
  usable_ = page_bytes - reserved;
  pages_ = static_cast<std::uint32_t>(std::min<std::uint64_t>(in_.file_bytes() / page_bytes, 0xfffffffe));
  run_pages_ = 0;
  return true;
}

bool sqlite_pages::start(std::uint32_t root, std::int64_t first, std::int64_t last) {
  first_ = first;
  last_ = last;
  has_row_ = false;
  is_at_end_ = last < first;
  is_first_leaf_ = true;
  depth_ = 0;
  cell_ = cells_ = 0;
  leaf_ = nullptr;
  if (is_at_end_) return true;
  return read_header() && descend(root, true);
}

// Leaves, which mostly stand in their order: the more of them did, the more are read at once.
const std::uint8_t* sqlite_pages::read_page(std::uint32_t page) {
  bad_page_ = page;
  if (page - run_begin_ >= run_pages_ || page < run_begin_) {
    if (page < 2 || page > pages_) {
      give_up("is not in the file");
      return nullptr;
    }
    // A page of another kind between two leaves is no end of a run.
    const bool goes_on = run_pages_ != 0 && page - run_begin_ <= run_pages_ + 1;
    const auto most = static_cast<std::uint32_t>(max_run_bytes / page_bytes_);
    run_pages_ = std::min({goes_on ? 2 * run_pages_ : 1, most, pages_ - page + 1});
    run_begin_ = page;
    if (!in_.read_file(std::uint64_t{page - 1} * page_bytes_, run_.data(), std::size_t{run_pages_} * page_bytes_)) {
      run_pages_ = 0;
      give_up("cannot be read");
      return nullptr;
    }
  }
  return run_.data() + std::size_t{page - run_begin_} * page_bytes_;
}

bool sqlite_pages::key(const interior& of, std::uint32_t cell, std::int64_t& to) {
  const std::uint32_t at = read_16(of.bytes.data() + interior_header_bytes + std::size_t{2} * cell);
  if (at + 5 > usable_) return give_up("has a cell beyond its end");
  std::uint64_t number = 0;
  read_number(of.bytes.data() + at + 4, number);
  to = static_cast<std::int64_t>(number);
  return true;
}

bool sqlite_pages::child(const interior& of, std::uint32_t& to) {
  if (of.at == of.cells) {
    to = read_32(of.bytes.data() + 8);
    return true;
  }
  const std::uint32_t at = read_16(of.bytes.data() + interior_header_bytes + std::size_t{2} * of.at);
  bad_page_ = of.page;
  if (at + 4 > usable_) return give_up("has a cell beyond its end");
  to = read_32(of.bytes.data() + at);
  return true;
}

// To the leaf that has the first row, or the leftmost one below.
bool sqlite_pages::descend(std::uint32_t page, bool seeks) {
  for (;;) {
    const std::uint8_t* const bytes = read_page(page);
    if (bytes == nullptr) return false;
    const std::uint32_t cells = read_16(bytes + 3);
    const bool is_root = depth_ == 0;
    if (bytes[0] == leaf_of_table) {
      if (cells == 0 && !is_root) return give_up("is an empty leaf");
      if (leaf_header_bytes + 2 * cells > usable_) return give_up("has more cells than room");
      leaf_ = bytes;
      leaf_page_ = page;
      cells_ = cells;
      cell_ = 0;
      return true;
    }
    if (bytes[0] != interior_of_table) return give_up("is no page of a table");
    if (cells == 0 || interior_header_bytes + 2 * cells > usable_) return give_up("has no cells, or too many");
    if (depth_ == max_depth) return give_up("is too far down");
    if (depth_ == path_.size()) {
      path_.emplace_back();
      path_.back().bytes.resize(page_bytes_ + padding);
    }
    interior& here = path_[depth_++];
    std::memcpy(here.bytes.data(), bytes, page_bytes_);
    here.page = page;
    here.cells = cells;
    here.at = 0;
    if (seeks) {
      // Below a cell are rows up to its key.
      std::uint32_t low = 0, high = cells;
      while (low != high) {
        const std::uint32_t middle = (low + high) / 2;
        std::int64_t its = 0;
        if (!key(here, middle, its)) return false;
        if (its < first_) low = middle + 1;
        else high = middle;
      }
      here.at = low;
    }
    if (!child(here, page)) return false;
  }
}

bool sqlite_pages::next_leaf() {
  while (depth_ != 0) {
    interior& above = path_[depth_ - 1];
    if (above.at == above.cells) {
      --depth_;
      continue;
    }
    ++above.at;
    is_first_leaf_ = false;
    std::uint32_t page = 0;
    return child(above, page) && descend(page, false);
  }
  is_at_end_ = true;
  return true;
}

sqlite_pages::found sqlite_pages::next(std::vector<row_value>& to) {
  while (!is_at_end_) {
    if (cell_ == cells_) {
      if (!next_leaf()) return found::gave_up;
      continue;
    }
    // What is read of a row stands below the page's end and the padding: its bounds are looked at behind.
    const std::uint32_t at = read_16(leaf_ + leaf_header_bytes + std::size_t{2} * cell_++);
    bad_page_ = leaf_page_;
    if (at + 4 > usable_) return give_up("has a cell beyond its end"), found::gave_up;
    std::uint64_t size = 0, number = 0;
    const std::uint8_t* const payload = read_number(read_number(leaf_ + at, size), number);
    const auto row = static_cast<std::int64_t>(number);
    const auto before = static_cast<std::uint32_t>(payload - leaf_);
    if (before > usable_ || size > max_record_bytes) return give_up("has a cell beyond its end"), found::gave_up;
    if (row < first_ && is_first_leaf_) continue;
    if (row > last_) break;
    if (row < first_ || (has_row_ && row <= row_)) return found::out_of_order;
    if (size <= usable_ - 35) {
      if (before + size > usable_) return give_up("has a row beyond its end"), found::gave_up;
      if (decode(payload, size, size, to) != decoded::good) return found::gave_up;
    } else {
      // How much of a long row is here is fixed by the format, and where the rest is stands behind it.
      const std::uint64_t least = (usable_ - 12) * 32 / 255 - 23;
      const std::uint64_t fitting = least + (size - least) % (usable_ - 4);
      const std::uint64_t here = fitting <= usable_ - 35 ? fitting : least;
      if (before + here + 4 > usable_) return give_up("has a row beyond its end"), found::gave_up;
      if (size / usable_ > pages_) return give_up("has a row larger than the file"), found::gave_up;
      decoded how = decode(payload, here, size, to);
      for (int tries = 0; how == decoded::more && tries != 2; ++tries) {
        if (!gather(payload, static_cast<std::size_t>(here), needed_)) return found::gave_up;
        how = decode(payload_.data(), needed_, size, to);
      }
      if (how == decoded::more) give_up("has a row that does not end");
      if (how != decoded::good) return found::gave_up;
    }
    row_ = row;
    has_row_ = true;
    return found::row;
  }
  is_at_end_ = true;
  return found::end;
}

// Of `size` bytes, those that are `available`.
sqlite_pages::decoded sqlite_pages::decode(const std::uint8_t* payload, std::uint64_t available, std::uint64_t size,
                                           std::vector<row_value>& to) {
  const auto bad = [this](const char* why) {
    give_up(why);
    return decoded::bad;
  };
  const auto need = [this](std::uint64_t bytes) {
    needed_ = bytes;
    return decoded::more;
  };
  if (size == 0) return bad("has an empty record");
  std::uint64_t header = 0;
  const std::uint8_t* at = read_number(payload, header);
  if (header > size) return bad("has a record beyond its end");
  if (header > available) return need(header);
  const std::uint8_t* const end = payload + header;
  std::uint64_t offset = header;
  std::size_t place = 0;
  for (const column& one : columns_) {
    std::uint64_t type = 0;
    for (; place <= one.place && at < end; ++place) {
      at = read_number(at, type);
      offset += bytes_of_type(type);
      // Also of lengths beyond any, since then `type` was no less.
      if (offset > size || (type >= first_reserved_type && type < first_text_type))
        return bad("has a record beyond its end");
    }
    row_value& value = to[one.value];
    if (place <= one.place) {
      if (one.has_default) return bad("has rows that are older than a column");
      value = {};
      continue;
    }
    if (offset > available) return need(offset);
    const std::uint64_t bytes = bytes_of_type(type);
    const std::uint8_t* const from = payload + (offset - bytes);
    value.is_null = type == 0;
    if (type < first_reserved_type) {
      if (type == real_type || (one.is_text && type != 0)) return bad("has a number of another type");
      const integer_type& how = integer_types[type];
      value.integer = (static_cast<std::int64_t>(read_64(from)) >> how.shift & how.keep) + how.plus;
      if (one.is_text) value.text = {};
    } else {
      if (!one.is_text) return bad("has a text for a number");
      value.text = {reinterpret_cast<const char*>(from), static_cast<std::size_t>(bytes)};
      value.integer = 0;
    }
  }
  if (at > end) return bad("has a record beyond its end");
  return decoded::good;
}

// The first `wanted` bytes of a row, of which `count` are on its leaf, with the next page's number behind them.
bool sqlite_pages::gather(const std::uint8_t* local, std::size_t count, std::uint64_t wanted) {
  payload_.resize(static_cast<std::size_t>(wanted) + padding);
  std::size_t done = std::min(count, static_cast<std::size_t>(wanted));
  std::memcpy(payload_.data(), local, done);
  std::uint32_t page = read_32(local + count);
  while (done != wanted) {
    bad_page_ = page;
    if (page < 2 || page > pages_) return give_up("is not in the file");
    if (!in_.read_file(std::uint64_t{page - 1} * page_bytes_, overflow_.data(), page_bytes_))
      return give_up("cannot be read");
    const std::size_t part = std::min<std::size_t>(usable_ - 4, static_cast<std::size_t>(wanted) - done);
    std::memcpy(payload_.data() + done, overflow_.data() + 4, part);
    done += part;
    page = read_32(overflow_.data());
  }
  return true;
}

}  // namespace adaptyst::lib
