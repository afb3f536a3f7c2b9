// Keeps spans in memory up to a limit; from then on appends them to a file, and finds them there by their block.
#include "span_store.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>

#include "../support/error.hpp"

namespace adaptyst::lib {

namespace {

// Of an extent; smaller ones would be read one by one.
constexpr std::size_t min_extent = 512;

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

// Blocks with few spans stay, so that what is read back comes in large pieces; unless all are small.
void span_store::spill() {
  for (const std::size_t least : {min_extent, std::size_t{1}}) {
    for (auto& [number, block] : blocks_) {
      if (block.spans.size() < least) continue;
      block.spilled.push_back({beyond_.write(block.spans.data(), block.spans.size()), block.spans.size()});
      count_ -= block.spans.size();
      block.spans = {};
    }
    if (count_ < max_count_ / 2) return;
  }
}

void span_store::refuse(std::uint64_t block) const {
  if (blocks_.count(block) == 0)
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
  to.insert(to.end(), found->second.spans.begin(), found->second.spans.end());
  for (const extent& one : found->second.spilled) {
    to.resize(to.size() + one.count);
    beyond_.read(one.at, to.data() + (to.size() - one.count), one.count);
  }
  found->second = {};
}

}  // namespace adaptyst::lib
