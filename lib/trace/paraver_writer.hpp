// Writes a trace for Paraver (https://tools.bsc.es/paraver): FILE.prv, with FILE.pcf and FILE.row next to it.
//
// Tasks are processes. Their threads are host threads, then a thread for each queue of a device. Types of events are
// those of nsys2prv. A queue has states; a launch is a communication record from the thread to the queue. Records are
// sorted by time; memory does not grow with events.
#ifndef ADAPTYST_LIB_TRACE_PARAVER_WRITER_HPP
#define ADAPTYST_LIB_TRACE_PARAVER_WRITER_HPP

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "../model/efficiency.hpp"
#include "../support/output_file.hpp"
#include "sorted_records.hpp"
#include "trace_writer.hpp"

namespace adaptyst::lib {

class paraver_writer final : public trace_writer {
 public:
  // `utc_ns`: the time of day at time 0. The files appear when they are finished. Throws error.
  paraver_writer(std::string file, std::optional<std::int64_t> utc_ns);

  void name_process(std::int64_t process, const traced_process& what) override { processes_[process] = what; }
  void name_thread(std::int64_t process, std::uint32_t thread, const std::string& name) override;
  bool knows_thread(std::int64_t process, std::uint32_t thread) const override;
  void name_device(std::int64_t process, std::uint32_t device, const traced_device& what) override;
  bool knows_device(std::int64_t process, std::uint32_t device) const override;
  bool needs_order() const noexcept override { return true; }
  void add(std::int64_t process, const traced_event& event) override;
  // Events of too many threads, and values that are not finite.
  std::uint64_t lost() const noexcept override { return lost_; }
  std::vector<std::string> remarks() const override;
  void flush() override {}
  void finish() override;

  // Efficiencies by the POP methodology and TALP in the whole time of the trace, with the definitions of
  // device_efficiency.hpp and host_efficiency.hpp; system calls count as useful.
  // Empty: nothing was computed, or the trace has no calls.
  struct device_result {
    std::size_t devices = 0;
    device_factors of;
  };
  struct host_result {
    std::size_t threads = 0;  // with calls
    host_factors of;
  };
  // Call them after finish().
  std::optional<device_result> find_device_factors() const;
  std::optional<host_result> find_host_factors() const;

 private:
  // A thread, or a queue of a device.
  struct place {
    std::int64_t process = 0;
    bool is_queue = false;
    std::uint32_t device = 0;
    std::uint64_t number = 0;

    bool operator<(const place& other) const {
      return std::tie(process, is_queue, device, number) <
             std::tie(other.process, other.is_queue, other.device, other.number);
    }
  };
  enum class step : std::uint8_t { end, state, arrow, begin, moment, value };
  // The part of the span in the efficiencies.
  enum class role : std::uint8_t { none, kernel, copy, mpi_call, other_call };
  // The time in which at least one span is open.
  struct united_time {
    std::uint64_t open = 0, since_ns = 0, total_ns = 0;

    void begin(std::uint64_t ns) noexcept {
      if (open++ == 0) since_ns = ns;
    }
    void end(std::uint64_t ns) noexcept {
      if (--open == 0) total_ns += ns - since_ns;
    }
  };
  struct device_time {
    united_time busy, active;  // in kernels; in kernels or copies
  };
  struct record {
    std::uint64_t time_ns = 0, order = 0;
    std::uint64_t other_ns = 0;  // the end of a state; the begin of an ended span, or of a submitted operation
    std::int64_t value = 0;      // of the event; bytes of an arrow
    std::uint64_t bytes = 0;     // of an operation
    std::uint32_t at = 0, to = 0, type = 0;
    step what = step::end;
    role as = role::none;
  };
  struct by_time {
    bool operator()(const record& a, const record& b) const {
      return std::tie(a.time_ns, a.what, a.order) < std::tie(b.time_ns, b.what, b.order);
    }
  };
  // The spans of a type that have begun, by begin and order. They end in any order: an ended one is removed when it is the
  // last, or when more than half have ended.
  class open_spans {
   public:
    explicit open_spans(std::uint32_t type) : type_(type) {}
    std::uint32_t type() const noexcept { return type_; }
    void begin(const record& at) { all_.push_back({at.time_ns, at.order, at.value, false}); }
    void end(const record& at);
    std::int64_t innermost() const noexcept { return all_.empty() ? 0 : all_.back().value; }  // 0: none is open

   private:
    struct span {
      std::uint64_t begin_ns, order;
      std::int64_t value;
      bool has_ended;
    };
    std::uint32_t type_;
    std::vector<span> all_;
    std::size_t ended_ = 0;
  };
  struct row {
    std::uint32_t task = 0, thread = 0;
    std::uint64_t state_end_ns = 0;
    device_time* device = nullptr;  // of a queue
    united_time in_mpi, in_calls;
    bool has_calls = false;
    std::vector<open_spans> open;  // few: types of spans
  };

  std::optional<std::uint32_t> find_place(const place& of);
  std::int64_t find_value(std::uint32_t type, const traced_site& site);
  std::uint32_t find_metric(const std::string& name);
  void add_span(std::uint32_t at, std::uint32_t type, const traced_event& event);
  void add_value(std::uint32_t at, const traced_event& event);
  void add_operation(std::uint32_t queue, std::int64_t process, const traced_event& event);
  std::string number_rows();  // returns the part of the header that describes them
  void write(const record& next);
  void add_time(const record& next, row& at);
  void write_states_until(std::uint64_t time_ns);
  void write_names();
  void write_out(output_file& to, std::string& text, bool is_last);

  std::string file_;
  std::optional<std::int64_t> utc_ns_;
  output_file records_file_, names_file_, rows_file_;
  std::string text_;
  std::map<std::int64_t, traced_process> processes_;
  std::map<std::pair<std::int64_t, std::uint32_t>, std::string> threads_;
  std::map<std::pair<std::int64_t, std::uint32_t>, traced_device> devices_;
  std::map<place, std::uint32_t> places_;
  std::vector<row> rows_;                              // by number of the place
  std::map<std::uint32_t, device_time> device_times_;  // by number of the machine
  std::vector<std::int64_t> tasks_;                    // processes, in the order of the tasks
  std::unordered_map<const traced_site*, std::pair<std::uint32_t, std::int64_t>> site_values_;  // type and value
  std::map<std::uint32_t, std::map<std::string, std::int64_t>> values_;                         // by type and name
  std::multimap<std::uint64_t, record> later_states_;  // that begin after the record with them
  std::map<std::string, std::uint32_t> metrics_;       // types
  sorted_records<record, by_time> records_;
  std::uint64_t count_ = 0, end_ns_ = 0, lost_ = 0, rounded_ = 0, reversed_ = 0;
  std::uint64_t without_thread_ = 0, without_state_ = 0;
};

}  // namespace adaptyst::lib

#endif
