// One process that cannot be read, among others that can.
#include <unistd.h>

#include <memory>
#include <new>
#include <optional>
#include <stdexcept>
#include <utility>
#include <vector>

#include "catch.hpp"
#include "session/session.hpp"

namespace {

namespace lib = adaptyst::lib;

enum class failing { never, with_error, without_memory };

// This process, as if it were another one.
class process_to_read final : public lib::target {
 public:
  process_to_read(failing how, int& readings) : target(getpid()), how_(how), readings_(readings) {}

  bool is_running() const override { return !is_retired_; }
  std::uint64_t state() const noexcept override { return 0; }
  void claim(const lib::claim_terms&) override {}
  void enable() override {}
  void record(std::uint64_t, bool) override {}
  void retire() noexcept override { is_retired_ = true; }
  void release() noexcept override {}
  std::vector<lib::process_object> changed_objects() override { return {}; }

 private:
  std::optional<lib::process_state> reach() override {
    ++readings_;
    if (how_ == failing::with_error) throw std::out_of_range("a number that it has written");
    if (how_ == failing::without_memory) throw std::bad_alloc();
    return std::nullopt;
  }

  const failing how_;
  int& readings_;
  bool is_retired_ = false;
};

}  // namespace

TEST_CASE("a process whose reading fails is retired and counted, and the others are read on") {
  for (const failing how : {failing::with_error, failing::without_memory}) {
    lib::session session(adaptyst::parse_options("engine=inline,report=none,overhead=none"), lib::read_clock_pair(), 0);
    int before = 0, failed = 0, behind = 0;
    session.add(std::make_unique<process_to_read>(failing::never, before));
    session.add(std::make_unique<process_to_read>(how, failed));
    session.add(std::make_unique<process_to_read>(failing::never, behind));
    session.poll();
    CHECK(failed == 1);
    CHECK(session.running() == 2);
    const int read_before = before, read_behind = behind;
    const adaptyst::profile made = session.snapshot();
    CHECK(failed == 1);  // never again
    CHECK(before > read_before);
    CHECK(behind > read_behind);
    REQUIRE(made.accounting.refused);
    CHECK(made.accounting.refused->programs == 1);
    CHECK_FALSE(made.accounting.refused->why.empty());
    CHECK(made.accounting.lost.at(adaptyst::loss_reason::not_read) == 1);
    CHECK(made.processes.size() == 3);
    session.stop();
  }
}
