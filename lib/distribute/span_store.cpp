// Keeps spans in memory up to a limit, appends further spans to a file, and finds them there by block.
#include "span_store.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <new>

#include "../support/error.hpp"

namespace adaptyst::lib {

namespace {

// The minimum size of a block that is written out; smaller ones free little memory.
constexpr std::size_t min_spilled_pages = 4;
constexpr std::size_t huge_page = std::size_t{1} << 21U;
constexpr std::size_t max_parts = 256;  // of one write; Linux takes 1024
constexpr std::size_t spans_read_at_once = 16384;

}  // namespace

void spill_file::open() {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (file_) return;
  const char* const set = std::getenv("TMPDIR");
  folder_ = set != nullptr && *set != '\0' ? set : "/tmp";
  file_.reset(::open(folder_.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
  if (file_) return;
  // Some file systems do not support unnamed files.
  std::string name = folder_ + "/adaptyst-spans-XXXXXX";
  file_.reset(mkostemp(name.data(), O_CLOEXEC));
  if (!file_)
    throw error(fmt::format("cannot make a file in {} for spans that exceed the memory limit", folder_), folder_, errno,
                "set TMPDIR to another folder");
  unlink(name.c_str());
}

std::uint64_t spill_file::write(const std::vector<piece>& pieces) {
  open();
  std::size_t bytes = 0;
  for (const piece& one : pieces) bytes += one.count;
  const std::uint64_t begin = end_.fetch_add(bytes);
  std::uint64_t at = begin;
  // In large pieces: a system call for each page costs more than the page.
  std::vector<iovec> parts;
  for (std::size_t first = 0; first != pieces.size();) {
    parts.clear();
    std::size_t wanted = 0;
    for (; first != pieces.size() && parts.size() != max_parts; ++first) {
      parts.push_back({const_cast<void*>(pieces[first].bytes), pieces[first].count});
      wanted += pieces[first].count;
    }
    iovec* part = parts.data();
    iovec* const behind = part + parts.size();
    while (wanted != 0) {
      const ssize_t written = pwritev(file_.get(), part, static_cast<int>(behind - part), static_cast<off_t>(at));
      if (written < 0 && errno == EINTR) continue;
      if (written <= 0)
        throw error(fmt::format("cannot write spans that exceed the memory limit to {}", folder_), folder_,
                    written < 0 ? errno : ENOSPC, "set TMPDIR to a folder with more free space");
      auto done = static_cast<std::size_t>(written);
      at += done;
      wanted -= done;
      for (; part != behind && done >= part->iov_len; ++part) done -= part->iov_len;
      if (part == behind) break;
      part->iov_base = static_cast<char*>(part->iov_base) + done;
      part->iov_len -= done;
    }
  }
  return begin;
}

void spill_file::read(std::uint64_t at, void* to, std::size_t bytes) const {
  for (std::size_t done = 0; done != bytes;) {
    const ssize_t got = pread(file_.get(), static_cast<char*>(to) + done, bytes - done, static_cast<off_t>(at + done));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0)
      throw error(fmt::format("cannot read back spans from {}", folder_), folder_, got < 0 ? errno : EIO, "");
    done += static_cast<std::size_t>(got);
  }
}

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

void span_store::give_back(page* one) noexcept {
  one->next = free_;
  free_ = one;
  --used_pages_;
}

// Small blocks stay in memory, so that reads come in large pieces; unless all blocks are small.
void span_store::spill() {
  for (const std::size_t least : {min_spilled_pages, std::size_t{1}}) {
    for (auto& [number, block] : blocks_) {
      std::size_t pages = 0;
      for (const page* one = block.first_page; one != nullptr && pages != least; one = one->next) ++pages;
      if (pages == least) spill(block);
    }
    if (used_pages_ < max_pages_ / 2) return;
  }
}

void span_store::spill(kept_block& block) {
  std::vector<spill_file::piece> pieces;
  std::size_t count = 0;
  for (const page* one = block.first_page; one != nullptr; one = one->next) {
    pieces.push_back({one->spans, one->count * sizeof(kept_span)});
    count += one->count;
  }
  const std::uint64_t at = beyond_.write(pieces);
  extent* const last = block.spilled.empty() ? nullptr : &block.spilled.back();
  if (last != nullptr && last->at + last->count * sizeof(kept_span) == at) last->count += count;
  else block.spilled.push_back({at, count});
  block.count += block.last_page->count;
  while (page* const one = block.first_page) {
    block.first_page = one->next;
    give_back(one);
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
  while (page* const one = found->second.first_page) {
    to(one->spans, one->count);
    found->second.first_page = one->next;
    give_back(one);
  }
  found->second = {};
}

}  // namespace adaptyst::lib
