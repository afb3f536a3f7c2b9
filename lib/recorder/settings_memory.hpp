// Memory of a process that we have started, of which we write only the settings: these stand in a file of our own,
// which the process has mapped, and nothing is written into the process itself.
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
  // `process_memory`: for all else that is read of the process; must outlive this. Throws error.
  explicit settings_memory(const memory& process_memory, const detail::level_settings& levels = {});
  ~settings_memory() override;
  settings_memory(const settings_memory&) = delete;
  settings_memory& operator=(const settings_memory&) = delete;

  // The file to be handed to the process: sealed, so that only this process can write it. Empty where no descriptor is
  // left, or where it is mapped.
  descriptor file() const noexcept;
  // Notes the address at which the process says that it has mapped the file. write() accepts no other addresses, so a
  // wrong one does no harm.
  void mapped_at(std::uint64_t address) noexcept;
  bool is_mapped() const noexcept { return base_ != 0; }
  // Ends the observation: each marker of the process goes to sleep when it next runs. `markers`: how many the process
  // has now; the first event of a later one takes the slow path anyway.
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
