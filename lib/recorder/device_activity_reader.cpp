// Copies a device activity buffer while other threads write it, and sweeps the copy in the order of start times. The
// data may be damaged: numbers and links are checked first.
#include "device_reader.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>

namespace adaptyst::lib {

namespace {

using detail::activity_block;
using detail::activity_chunk;
using detail::activity_entry;
using detail::activity_sums;
using detail::blocks_per_chunk;
using detail::device_activity_buffer;
using detail::device_entry;
using detail::device_work;
using detail::entries_per_block;
using detail::packed_entry;

// The part of a device activity buffer that is read first.
struct buffer_head {
  std::uint32_t lock, chunk_count, chunk_limit, free_blocks, next_block, pad;
  std::uint64_t epoch, skipped, commits, sweep_buffer;
  std::uint64_t chunks[detail::max_chunks];
};
static_assert(sizeof(buffer_head) == offsetof(device_activity_buffer, devices));

// Brings numbers from another process into their ranges; false: the entry is useless.
bool make_safe(activity_entry& entry) {
  const bool is_wait = entry.work == device_work::wait_begin || entry.work == device_work::wait_end;
  const bool is_sound =
      is_wait ? entry.device == 0
              : entry.work <= device_work::other && entry.device != 0 && entry.device <= detail::max_devices;
  entry.end_ns = std::max(entry.begin_ns, entry.end_ns);
  entry.submitted_ns = std::min(entry.begin_ns, entry.submitted_ns);
  return is_sound;
}

// One read of a device activity buffer.
class activity_read {
 public:
  activity_read(const process_state& state, std::uint64_t epoch)
      : memory_(*state.in),
        address_(state.address + offsetof(detail::recorder_store, activity)),
        epoch_(epoch),
        is_own_(state.in == &own_memory()) {}

  // False: there is nothing to read.
  bool take() {
    constexpr unsigned attempts = 3;  // each reads everything
    for (unsigned attempt = 0; attempt != attempts; ++attempt) {
      // Memory is allocated here, where a failure does no harm, and not while the buffer is locked.
      sums_.reset(new activity_sums);  // 650 KiB; 10 KiB for each device
      chunks_.resize(detail::max_chunks);
      if (!take_heads()) return false;
      if (!has_begun()) return true;
      if (!take_entries()) return false;
      if (is_as_it_was()) break;
    }
    return true;
  }

  std::uint64_t skipped() const { return has_begun() ? head_.skipped : 0; }

  std::unique_ptr<activity_sums> sweep(std::uint64_t now_ns) {
    if (!has_begun()) return nullptr;
    const auto before = [](const key& a, const key& b) {
      return a.begin_ns != b.begin_ns ? a.begin_ns < b.begin_ns : detail::comes_before()(*a.entry, *b.entry);
    };
    std::vector<key> spare(keys_.size());
    const key* const sorted = detail::merge_sorted(keys_.data(), spare.data(), keys_.size(), before);
    // Sorted by time, so that no wait ends before it began.
    std::sort(late_.begin(), late_.end(), [&](const packed_entry* a, const packed_entry* b) {
      return before({a->begin_ns, a}, {b->begin_ns, b});
    });
    for (const packed_entry* const late : late_) add(*late);
    for (std::size_t at = 0; at != keys_.size(); ++at) add(*sorted[at].entry);
    sums_->settle(now_ns);
    return std::move(sums_);
  }

 private:
  struct key {
    std::uint64_t begin_ns;
    const packed_entry* entry;
  };
  struct chunk_copy {
    activity_block blocks[blocks_per_chunk];
    std::vector<packed_entry> entries;
  };

  bool has_begun() const { return head_.epoch == epoch_; }

  // Reads sums and heads of blocks of one moment.
  bool take_heads() {
    bool is_read = false;
    if (is_own_ && detail::with_activity_buffer(*reinterpret_cast<device_activity_buffer*>(address_), epoch_,
                                                [&](const device_activity_buffer&) { is_read = read_heads(); }))
      return is_read;
    for (unsigned attempt = 0; attempt != memory_.patience(); ++attempt) {
      std::uint64_t commits = 0;
      if (!read_heads() || !memory_.read(address_ + offsetof(device_activity_buffer, commits), commits)) return false;
      if (commits == head_.commits) break;
    }
    return true;
  }

  bool read_heads() noexcept {
    if (!memory_.read(address_, head_)) return false;
    head_.chunk_count = std::min(head_.chunk_count, detail::max_chunks);
    if (!has_begun()) return true;
    const std::uint64_t sums =
        head_.sweep_buffer + offsetof(detail::sweep_memory, sums) + (head_.commits % 2) * sizeof(activity_sums);
    if (head_.sweep_buffer == 0) std::memset(static_cast<void*>(sums_.get()), 0, offsetof(activity_sums, devices));
    else if (!memory_.read(sums, sums_.get(), offsetof(activity_sums, devices))) return false;
    sums_->device_count = std::min<std::uint64_t>(sums_->device_count, detail::max_devices);
    if (sums_->device_count != 0 && !memory_.read(sums + offsetof(activity_sums, devices), sums_->devices,
                                                  sums_->device_count * sizeof(detail::device_sums)))
      return false;
    for (std::size_t at = 0; at != sums_->device_count; ++at)
      sums_->devices[at].queue_count = std::min<std::uint64_t>(sums_->devices[at].queue_count, detail::max_queues);
    for (std::size_t at = 0; at != head_.chunk_count; ++at)
      if (!memory_.read(head_.chunks[at], chunks_[at].blocks)) return false;
    return true;
  }

  bool is_in_use(const activity_block& block) const { return block.count != 0 && block.epoch == epoch_; }

  // The blocks that will be reused next come first.
  bool take_entries() {
    keys_.clear();
    late_.clear();
    const std::size_t count = head_.chunk_count;
    const std::size_t first = count == 0 ? 0 : head_.next_block / blocks_per_chunk % count;
    for (std::size_t at = 0; at != count; ++at) {
      const std::size_t number = (first + at) % count;
      if (!read_chunk(head_.chunks[number], chunks_[number])) return false;
    }
    return true;
  }

  bool read_chunk(std::uint64_t address, chunk_copy& copy) {
    const auto used = [this](const activity_block& block) { return is_in_use(block); };
    const auto begin = std::find_if(std::begin(copy.blocks), std::end(copy.blocks), used);
    const auto end =
        std::find_if(std::make_reverse_iterator(std::end(copy.blocks)), std::make_reverse_iterator(begin), used).base();
    const auto first = static_cast<std::size_t>(begin - std::begin(copy.blocks)) * entries_per_block;
    if (begin == end) return true;
    copy.entries.resize(static_cast<std::size_t>(end - begin) * entries_per_block);
    if (!memory_.read(address + offsetof(activity_chunk, entries) + first * sizeof(packed_entry), copy.entries.data(),
                      copy.entries.size() * sizeof(packed_entry)))
      return false;
    for (auto block = begin; block != end; ++block)
      if (is_in_use(*block))
        take_block(*block, &copy.entries[static_cast<std::size_t>(block - begin) * entries_per_block]);
    return true;
  }

  void take_block(const activity_block& block, const packed_entry* entries) {
    const std::uint32_t count = std::min(block.count, entries_per_block);
    const std::uint32_t seen = block.seen[head_.commits % 2];
    for (std::uint32_t at = 0; at != count; ++at) {
      if (entries[at].begin_ns >= sums_->horizon_ns) keys_.push_back({entries[at].begin_ns, &entries[at]});
      else if (at >= seen) late_.push_back(&entries[at]);
    }
  }

  // Whether no block has been reused since its head was read. Always true for a process that has ended.
  bool is_as_it_was() {
    for (std::size_t at = 0; at != head_.chunk_count; ++at) {
      activity_block now[blocks_per_chunk];
      if (!memory_.read(head_.chunks[at], now)) return true;
      for (std::size_t block = 0; block != blocks_per_chunk; ++block)
        if (is_in_use(chunks_[at].blocks[block]) && now[block].uses != chunks_[at].blocks[block].uses) return false;
    }
    return true;
  }

  void add(const packed_entry& packed) {
    activity_entry entry = packed.get();
    if (make_safe(entry)) sums_->add(entry);
  }

  const memory& memory_;
  const std::uint64_t address_;
  const std::uint64_t epoch_;
  const bool is_own_;
  buffer_head head_{};
  std::unique_ptr<activity_sums> sums_;
  std::vector<chunk_copy> chunks_;
  std::vector<key> keys_;
  std::vector<const packed_entry*> late_;
};

}  // namespace

std::optional<device_entry> read_device(const process_state& state, std::uint32_t number) {
  device_entry entry{};
  const std::uint64_t first =
      state.address + offsetof(detail::recorder_store, activity) + offsetof(device_activity_buffer, devices);
  if (number == 0 || number > detail::max_devices || !state.in->read(first + (number - 1) * sizeof entry, entry) ||
      entry.state != 2)
    return std::nullopt;
  entry.name[sizeof entry.name - 1] = '\0';
  return entry;
}

device_activity read_device_activity(const process_state& state, std::uint64_t epoch, std::uint64_t now_ns) {
  device_activity made;
  while (const std::optional<device_entry> entry =
             read_device(state, static_cast<std::uint32_t>(made.devices.size() + 1)))
    made.devices.push_back(*entry);
  activity_read now(state, epoch);
  if (!now.take()) return made;
  made.skipped = now.skipped();
  made.sums = now.sweep(now_ns);
  return made;
}

}  // namespace adaptyst::lib
