// Keeps spans in memory up to a limit, appends further spans to a file, and finds them there by block.
#include "span_store.hpp"

#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <new>

#include "../support/error.hpp"

namespace adaptyst::lib {

namespace {

// The minimum size of a block that is written out; smaller ones free little memory.
constexpr std::size_t min_spilled_pages = 4;
constexpr std::size_t huge_page = std::size_t{1} << 21U;
constexpr std::size_t spans_read_at_once = 16384;

}  // namespace

span_store::span_store(spill_file& beyond, std::size_t max_bytes)
    : beyond_(beyond), max_pages_(std::max<std::size_t>(max_bytes / sizeof(page), 2 * min_spilled_pages)) {
  void* const made = mmap(nullptr, max_pages_ * sizeof(page), PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (made == MAP_FAILED)
    throw error(fmt::format("no memory for {} MiB of spans", max_pages_ * sizeof(page) >> 20U), errno,
                "a limit of addresses (ulimit -v) may be lower");
  if (max_pages_ * sizeof(page) >= 4 * huge_page) madvise(made, max_pages_ * sizeof(page), MADV_HUGEPAGE);
  pages_ = static_cast<page*>(made);
}

span_store::~span_store() { munmap(pages_, max_pages_ * sizeof(page)); }

void span_store::add_page(kept_block& to) {
  if (used_pages_ == max_pages_) spill();
  page* made = free_;
  if (made != nullptr) free_ = made->next;
  else made = ::new (static_cast<void*>(pages_ + made_pages_++)) page;
  ++used_pages_;
  made->next = nullptr;
  made->count = 0;
  if (to.last_page != nullptr) {
    to.count += to.last_page->count;
    to.last_page->next = made;
  } else {
    to.first_page = made;
  }
  to.last_page = made;
}

void span_store::give_back(page* page) noexcept {
  page->next = free_;
  free_ = page;
  --used_pages_;
}

// Small blocks stay in memory, so that reads come in large pieces; unless all blocks are small.
void span_store::spill() {
  for (const std::size_t least : {min_spilled_pages, std::size_t{1}}) {
    for (auto& [number, block] : blocks_) {
      std::size_t pages = 0;
      for (const page* page = block.first_page; page != nullptr && pages != least; page = page->next) ++pages;
      if (pages == least) spill(block);
    }
    if (used_pages_ < max_pages_ / 2) return;
  }
}

void span_store::spill(kept_block& block) {
  std::vector<spill_file::piece> pieces;
  std::size_t count = 0;
  for (const page* page = block.first_page; page != nullptr; page = page->next) {
    pieces.push_back({page->spans, page->count * sizeof(kept_span)});
    count += page->count;
  }
  const std::uint64_t at = beyond_.write(pieces);
  extent* const last = block.spilled.empty() ? nullptr : &block.spilled.back();
  if (last != nullptr && last->at + last->count * sizeof(kept_span) == at) last->count += count;
  else block.spilled.push_back({at, count});
  block.count += block.last_page->count;
  while (page* const page = block.first_page) {
    block.first_page = page->next;
    give_back(page);
  }
  block.last_page = nullptr;
}

void span_store::refuse_more_than_known(std::uint64_t block) const {
  if (blocks_.count(block) == 0) refuse_blocks();
}

void span_store::refuse_blocks() {
  throw error("the windows are too many: more than 8 million", 0, "choose larger windows with --window");
}

std::vector<std::uint64_t> span_store::blocks() const {
  std::vector<std::uint64_t> made;
  made.reserve(blocks_.size());
  for (const auto& [number, block] : blocks_) made.push_back(number);
  return made;
}

std::uint64_t span_store::count(std::uint64_t block) const {
  const auto found = blocks_.find(block);
  if (found == blocks_.end()) return 0;
  return found->second.count + (found->second.last_page != nullptr ? found->second.last_page->count : 0);
}

void span_store::take(std::uint64_t block, const taker& to) {
  const auto found = blocks_.find(block);
  if (found == blocks_.end()) return;
  std::vector<kept_span> some;
  for (const extent& part : found->second.spilled)
    for (std::size_t done = 0; done != part.count; done += some.size()) {
      some.resize(std::min(spans_read_at_once, part.count - done));
      beyond_.read(part.at + done * sizeof(kept_span), some.data(), some.size() * sizeof(kept_span));
      to(some.data(), some.size());
    }
  while (page* const page = found->second.first_page) {
    to(page->spans, page->count);
    found->second.first_page = page->next;
    give_back(page);
  }
  found->second = {};
}

}  // namespace adaptyst::lib
