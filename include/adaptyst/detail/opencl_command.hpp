// An OpenCL command, from enqueue until its times are known.
#ifndef ADAPTYST_DETAIL_OPENCL_COMMAND_HPP
#define ADAPTYST_DETAIL_OPENCL_COMMAND_HPP

#include <stdio.h>

#include "../operation.hpp"
#include "opencl_device.hpp"
#include "system.hpp"

#ifndef ADAPTYST_DISABLE
namespace adaptyst { inline namespace v1 { namespace detail { namespace opencl {

// True if libadaptyst-opencl.so tracks all commands: track() then does nothing, so that no command is tracked twice.
template <class = void>
bool is_interposed() noexcept {
  static const bool found = dlsym(RTLD_DEFAULT, "adaptyst_opencl_interposer") != nullptr;
  return found;
}

struct place {
  const char* file;
  const char* function;
  uint32_t line;
};

ADAPTYST_DETAIL_INLINE operation_kind to_kind(cl_command_type command) noexcept {
  switch (command) {
    case CL_COMMAND_NDRANGE_KERNEL:
    case CL_COMMAND_TASK:
    case CL_COMMAND_NATIVE_KERNEL: return operation_kind::kernel;
    case CL_COMMAND_WRITE_BUFFER:
    case CL_COMMAND_WRITE_BUFFER_RECT:
    case CL_COMMAND_WRITE_IMAGE:
    case CL_COMMAND_UNMAP_MEM_OBJECT:
    case 0x120D /* CL_COMMAND_SVM_UNMAP, OpenCL 2.0 */: return operation_kind::copy_to;
    case CL_COMMAND_READ_BUFFER:
    case CL_COMMAND_READ_BUFFER_RECT:
    case CL_COMMAND_READ_IMAGE:
    case CL_COMMAND_MAP_BUFFER:
    case CL_COMMAND_MAP_IMAGE:
    case 0x120C /* CL_COMMAND_SVM_MAP */: return operation_kind::copy_from;
    case CL_COMMAND_FILL_BUFFER:
    case CL_COMMAND_FILL_IMAGE:
    case 0x120B /* CL_COMMAND_SVM_MEMFILL */: return operation_kind::fill;
    default: return operation_kind::other;  // includes copies within a device, which have no direction
  }
}

// On a device with host memory, mapping and unmapping move no data.
ADAPTYST_DETAIL_INLINE bool moves_data(cl_command_type command, bool shares_memory) noexcept {
  switch (command) {
    case CL_COMMAND_MAP_BUFFER:
    case CL_COMMAND_MAP_IMAGE:
    case CL_COMMAND_UNMAP_MEM_OBJECT:
    case 0x120C /* CL_COMMAND_SVM_MAP */:
    case 0x120D /* CL_COMMAND_SVM_UNMAP */: return !shares_memory;
    default: return true;
  }
}

struct tracked_command {
  cl_event event;
  device_state* on;
  pending_operation submitted;
};

struct converted_times {
  uint64_t queued_ns, started_ns, ended_ns;
  uint64_t off_by_ns;  // largest error, between each other and to the host's times
};

// False: the clock is unknown.
template <class = void>
bool convert(device_state& on, uint64_t epoch, converted_times& times) noexcept {
  const std::lock_guard<std::mutex> alone(on.lock);
  const device_clock& clock = on.clock.clock();
  on.clock.keep_synchronised(monotonic_ns());
  if (on.reported_epoch != epoch || on.reported_point_ns != on.clock.last_point_ns()) {
    report_clock(on.named, clock);
    on.reported_epoch = epoch;
    on.reported_point_ns = on.clock.last_point_ns();
  }
  constexpr uint64_t reading_ns = 100;
  times.off_by_ns = clock.residual_ns() + on.resolution_ns + reading_ns;
  if (times.queued_ns != 0 && !clock.to_monotonic(times.queued_ns, times.queued_ns)) return false;
  return clock.to_monotonic(times.started_ns, times.started_ns) && clock.to_monotonic(times.ended_ns, times.ended_ns);
}

template <class = void>
void complete_command(const tracked_command& done, cl_int status) noexcept {
  operation nothing_known{done.submitted};
  if (status < 0) return nothing_known.abandon(operation_loss::device_lost);
  converted_times times{profiling_time(done.event, CL_PROFILING_COMMAND_QUEUED),
                        profiling_time(done.event, CL_PROFILING_COMMAND_START),
                        profiling_time(done.event, CL_PROFILING_COMMAND_END), 0};
  if (times.started_ns == 0 || times.ended_ns == 0) return nothing_known.abandon(operation_loss::no_times);
  if (!convert(*done.on, done.submitted.begun.epoch, times))
    return nothing_known.abandon(operation_loss::unknown_clock);
  pending_operation submitted = done.submitted;
  // track() follows the enqueue: the command may have started already.
  if (times.queued_ns != 0 && times.queued_ns < submitted.submitted_ns) submitted.submitted_ns = times.queued_ns;
  if (times.started_ns < submitted.submitted_ns && submitted.submitted_ns - times.started_ns <= times.off_by_ns)
    submitted.submitted_ns = times.started_ns;
  operation{submitted}.complete(times.started_ns, times.ended_ns);
}

template <class = void>
void CL_CALLBACK command_ended(cl_event, cl_int status, void* data) noexcept {
  tracked_command* const done = static_cast<tracked_command*>(data);
  complete_command(*done, status);
  clReleaseEvent(done->event);
  delete done;
}

template <class = void>
void report_no_profiling(const device& on) noexcept {
  static std::atomic_flag is_reported = ATOMIC_FLAG_INIT;
  if (!is_reported.test_and_set())
    fprintf(
        stderr,
        "adaptyst: a command queue of %s was made without CL_QUEUE_PROFILING_ENABLE: it is not known when its commands "
        "run, and they are counted as lost (no_times); make it with the flag, or see docs/opencl.md\n",
        on.name());
}

struct observed_queue {
  cl_command_queue queue;
  device_state* on;  // null: no memory
  bool reports_times;
};

template <class = void>
observed_queue look_up(cl_command_queue queue) noexcept {
  const auto flags = get_info<cl_command_queue_properties>(clGetCommandQueueInfo, queue, CL_QUEUE_PROPERTIES, 0);
  return {queue, find_device(get_info<cl_device_id>(clGetCommandQueueInfo, queue, CL_QUEUE_DEVICE, nullptr)),
          (flags & CL_QUEUE_PROFILING_ENABLE) != 0};
}

template <class = void>
__attribute__((noinline)) void track_command(const submission& when, cl_event command, cl_command_type type,
                                             const observed_queue& in, text name, const work& amount,
                                             const place& from) noexcept {
  if (!when || command == nullptr || in.on == nullptr) return;
  const bool moves = moves_data(type, in.on->shares_memory);
  const operation_kind kind = moves ? to_kind(type) : operation_kind::other;
  const payload_reader<work> values(amount);
  const bool has_amount = moves && (amount.bytes != 0 || amount.flops > 0);
  const pending_operation submitted =
      submit_event(name, device_access::get_id(in.on->named), to_site_kind(kind), queue_number(in.queue),
                   has_amount ? &values.read() : nullptr, from.file, from.function, from.line, &when.where());
  if (submitted.begun.path == nullptr) return;
  if (!in.reports_times) {
    report_no_profiling(in.on->named);
    return operation{submitted}.abandon(operation_loss::no_times);
  }
  prepare_clock(*in.on, in.queue, when.where().submitted_ns);
  tracked_command* const tracked = new (std::nothrow) tracked_command{command, in.on, submitted};
  if (tracked == nullptr) return operation{submitted}.abandon(operation_loss::no_times);
  clRetainEvent(command);
  if (clSetEventCallback(command, CL_COMPLETE, &command_ended<>, tracked) == CL_SUCCESS) return;
  clReleaseEvent(command);
  delete tracked;
  operation{submitted}.abandon(operation_loss::no_times);
}

template <class = void>
void track_command(const submission& when, cl_event command, text name, const work& amount,
                   const place& from) noexcept {
  const system::errno_kept unchanged;
  if (command == nullptr) return;
  const cl_command_queue queue = get_info<cl_command_queue>(clGetEventInfo, command, CL_EVENT_COMMAND_QUEUE, nullptr);
  if (queue == nullptr) return;  // an event that the program sets itself
  const auto type = get_info<cl_command_type>(clGetEventInfo, command, CL_EVENT_COMMAND_TYPE, 0);
  track_command(when, command, type, look_up(queue), name, amount, from);
}

}}}}  // namespace adaptyst::v1::detail::opencl
#endif

#endif
