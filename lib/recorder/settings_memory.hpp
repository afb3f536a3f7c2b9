// Memory of a process that this observer has started. Only the settings are written: they are in a file of the
// observer, which the process has mapped, and nothing is written into the process itself.
#ifndef ADAPTYST_LIB_RECORDER_SETTINGS_MEMORY_HPP
#define ADAPTYST_LIB_RECORDER_SETTINGS_MEMORY_HPP

#include <adaptyst/detail/observer_settings.hpp>
#include <cstdint>
#include <string>

#include "../support/descriptor.hpp"
#include "memory.hpp"

namespace adaptyst::lib {

class settings_memory final : public memory {
 public:
  // `process_memory`: for all other reads of the process; must outlive this. Throws error.
  explicit settings_memory(const memory& process_memory, const detail::level_settings& levels = {});
  ~settings_memory() override;
  settings_memory(const settings_memory&) = delete;
  settings_memory& operator=(const settings_memory&) = delete;

  // The file for the process: sealed, so that only the observer can write it. Empty if no descriptor is left, or if it
  // is already mapped.
  descriptor file() const noexcept;
  // Notes the address of the file's mapping, as announced by the process. write() accepts no other addresses, so a
  // wrong address does no harm.
  void mapped_at(std::uint64_t address) noexcept;
  bool is_mapped() const noexcept { return base_ != 0; }
  // Ends the observation: each marker of the process becomes idle when it next runs. `markers`: the current number of
  // markers; the first event of a later marker takes the slow path anyway.
  void end(std::uint64_t markers) noexcept;

  using memory::read;
  using memory::write;
  bool read(std::uint64_t address, void* buffer, std::size_t bytes) const noexcept override;
  bool write(std::uint64_t address, const void* from, std::size_t bytes) const noexcept override;
  std::string text(std::uint64_t address, std::size_t max_bytes) const override {
    return process_memory_.text(address, max_bytes);
  }
  unsigned patience() const noexcept override { return process_memory_.patience(); }

 private:
  bool holds(std::uint64_t address, std::size_t bytes) const noexcept;

  const memory& process_memory_;
  descriptor file_;
  detail::observer_settings* ours_ = nullptr;
  std::uint64_t base_ = 0;
};

}  // namespace adaptyst::lib

#endif
