// Keeps spans in memory up to a limit; from then on appends them to a file, and finds them there by their block.
#include "span_store.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <new>

#include "../support/error.hpp"

namespace adaptyst::lib {

namespace {

// Of a block that is written out; from smaller ones little would be gained.
constexpr std::size_t min_spilled_pages = 4;
constexpr std::size_t huge_page = std::size_t{1} << 21U;

}  // namespace

void spill_file::open() {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (file_) return;
  const char* const set = std::getenv("TMPDIR");
  folder_ = set != nullptr && *set != '\0' ? set : "/tmp";
  file_.reset(::open(folder_.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
  if (file_) return;
  // Not every file system has files without a name.
  std::string name = folder_ + "/adaptyst-spans-XXXXXX";
  file_.reset(mkostemp(name.data(), O_CLOEXEC));
  if (!file_)
    throw error(fmt::format("cannot make a file in {} for spans that memory has no room for", folder_), folder_, errno,
                "TMPDIR=FOLDER names another place");
  unlink(name.c_str());
}

std::uint64_t spill_file::write(const kept_span* spans, std::size_t count) {
  open();
  const std::size_t bytes = count * sizeof(kept_span);
  const std::uint64_t at = end_.fetch_add(bytes);
  const auto* const from = reinterpret_cast<const char*>(spans);
  for (std::size_t done = 0; done != bytes;) {
    const ssize_t written = pwrite(file_.get(), from + done, bytes - done, static_cast<off_t>(at + done));
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0)
      throw error(fmt::format("cannot write spans that memory has no room for to {}", folder_), folder_,
                  written < 0 ? errno : ENOSPC, "TMPDIR=FOLDER names a place with more room");
    done += static_cast<std::size_t>(written);
  }
  return at;
}

void spill_file::read(std::uint64_t at, kept_span* spans, std::size_t count) const {
  const std::size_t bytes = count * sizeof(kept_span);
  auto* const to = reinterpret_cast<char*>(spans);
  for (std::size_t done = 0; done != bytes;) {
    const ssize_t got = pread(file_.get(), to + done, bytes - done, static_cast<off_t>(at + done));
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
  if (made != nullptr) free_ = made->before;
  else made = ::new (static_cast<void*>(pages_ + made_pages_++)) page;
  ++used_pages_;
  made->before = to.last_page;
  made->count = 0;
  to.last_page = made;
}

void span_store::give_back(page* one) noexcept {
  one->before = free_;
  free_ = one;
  --used_pages_;
}

// Blocks with few spans stay, so that what is read back comes in large pieces; unless all are small.
void span_store::spill() {
  for (const std::size_t least : {min_spilled_pages, std::size_t{1}}) {
    for (auto& [number, block] : blocks_) {
      std::size_t pages = 0;
      for (const page* one = block.last_page; one != nullptr && pages != least; one = one->before) ++pages;
      if (pages == least) spill(block);
    }
    if (used_pages_ < max_pages_ / 2) return;
  }
}

void span_store::spill(kept_block& block) {
  while (page* const one = block.last_page) {
    const std::uint64_t at = beyond_.write(one->spans, one->count);
    extent* const last = block.spilled.empty() ? nullptr : &block.spilled.back();
    if (last != nullptr && last->at + last->count * sizeof(kept_span) == at) last->count += one->count;
    else block.spilled.push_back({at, one->count});
    block.last_page = one->before;
    give_back(one);
  }
}

void span_store::refuse_more_than_known(std::uint64_t block) const {
  if (blocks_.count(block) == 0) refuse_blocks();
}

void span_store::refuse_blocks() {
  throw error("the windows are too many: more than 8 million", 0, "choose a larger one with --window");
}

std::vector<std::uint64_t> span_store::blocks() const {
  std::vector<std::uint64_t> made;
  made.reserve(blocks_.size());
  for (const auto& [number, block] : blocks_) made.push_back(number);
  return made;
}

void span_store::take(std::uint64_t block, std::vector<kept_span>& to) {
  const auto found = blocks_.find(block);
  if (found == blocks_.end()) return;
  for (page* one = found->second.last_page; one != nullptr;) {
    to.insert(to.end(), one->spans, one->spans + one->count);
    page* const before = one->before;
    give_back(one);
    one = before;
  }
  for (const extent& part : found->second.spilled) {
    to.resize(to.size() + part.count);
    beyond_.read(part.at, to.data() + (to.size() - part.count), part.count);
  }
  found->second = {};
}

}  // namespace adaptyst::lib
