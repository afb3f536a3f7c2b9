// Reasons for lost events.
#ifndef ADAPTYST_DETAIL_LOSS_HPP
#define ADAPTYST_DETAIL_LOSS_HPP

namespace adaptyst { inline namespace v1 { namespace detail {

enum class loss : unsigned {
  too_deep,       // more than max_depth regions open on one thread
  rows_full,      // more than max_rows call paths on one thread
  tables_full,    // no room for a further marker, call path or device in the process
  no_memory,      // the recorder could not be made
  in_signal,      // a signal handler interrupted the recorder of its own thread
  bad_times,      // an operation that ended before it started, or started before it was submitted
  no_times,       // an operation without times from its device
  unknown_clock,  // an operation with times that cannot be converted
  device_lost,    // an operation that its device never finishes
  unmatched,      // begun, then left by longjmp() or the end of its thread
  reasons
};

}}}  // namespace adaptyst::v1::detail

#endif
