// Numbers of Perfetto's published trace format that both the writer and the archive use.
#ifndef ADAPTYST_LIB_TRACE_PERFETTO_FIELDS_HPP
#define ADAPTYST_LIB_TRACE_PERFETTO_FIELDS_HPP

namespace adaptyst::lib {

namespace perfetto_field {
constexpr unsigned packet = 1;                                 // of the file
constexpr unsigned clock_snapshot = 6, track_descriptor = 60;  // of a packet
constexpr unsigned clock = 1, clock_id = 1, clock_time = 2;    // of a clock snapshot, and of a clock
constexpr unsigned process = 3, process_label = 8;             // of a track, and of a process
}  // namespace perfetto_field

namespace perfetto_clock {
constexpr unsigned realtime = 1, monotonic = 3, boottime = 6;
}  // namespace perfetto_clock

// A label of a process: this, and the name of its machine.
constexpr char perfetto_host_label[] = "host: ";

}  // namespace adaptyst::lib

#endif
