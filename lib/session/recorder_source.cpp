// The source of rows that enables and reads the programs' recorders.
#include "../support/error.hpp"
#include "own_process.hpp"
#include "source.hpp"

namespace adaptyst::lib {

namespace {

class recorder_source final : public source {
 public:
  explicit recorder_source(subject subject) : from_outside_(subject.is_listed) {}

  std::string name() const override { return "inline"; }
  std::string mechanism() const override {
    if (from_outside_) return "own recorder, from outside";
    return own_process::uses_counter() ? "own recorder, cycle counter" : "own recorder, CLOCK_MONOTONIC";
  }
  bool is_in_kernel() const override { return false; }

  void add_process(target& target, std::uint64_t) override { target.enable(); }
  probed_functions probe(const std::vector<std::string>&, pid_t, const std::vector<std::string>*, int) override {
    throw error("cannot probe functions with engine=inline", "functions", 0, "they need engine=ebpf");
  }
  std::optional<reading> read(const measurements& recorded, unsigned) override { return reading{&recorded, true}; }
  const rank_times* find_rank_times() const override { return &none_; }

 private:
  bool from_outside_;
  const rank_times none_;
};

}  // namespace

std::unique_ptr<source> make_recorder_source(subject subject) { return std::make_unique<recorder_source>(subject); }

}  // namespace adaptyst::lib
