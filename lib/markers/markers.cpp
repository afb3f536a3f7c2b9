// The functions that the code of markers calls, compiled once: the headers only declare them if ADAPTYST_LINK_MARKERS
// is defined. A program that links this compiles only a fraction of the headers in each translation unit.
#include <adaptyst/detail/device_id_calls.hpp>
#include <adaptyst/detail/handle_calls.hpp>
#include <adaptyst/detail/instant_calls.hpp>
#include <adaptyst/detail/metadata_calls.hpp>
#include <adaptyst/detail/offload_scope_calls.hpp>
#include <adaptyst/detail/operations_calls.hpp>
#include <adaptyst/detail/pair_calls.hpp>
#include <adaptyst/detail/phases_calls.hpp>
#include <adaptyst/detail/scope_calls.hpp>

namespace adaptyst { inline namespace v1 {

template uint32_t device_access::look_up<void>(const device& device) noexcept;

namespace detail {

template bool is_beyond<void>(const adaptyst_site*& record_of_marker, text name, uint32_t level) noexcept;
template uint64_t begin_named<void>(site& marker) noexcept;
template uint64_t begin_with<void>(site& marker, text name, uint32_t device, const payload_values* payload) noexcept;
template uint64_t begin_wait_with<void>(site& marker, text name, uint32_t device,
                                        const payload_values* payload) noexcept;
template void leave_scope<void>(uint64_t token) noexcept;
template void end_left_out_elsewhere<void>() noexcept;

template uint64_t next_named<void>(site& marker, uint64_t token) noexcept;
template uint64_t next_with<void>(site& marker, uint64_t token, text name, const payload_values* payload) noexcept;

template void begin_literal_pair<void>(site& marker) noexcept;
template void begin_pair_with<void>(site& marker, text name) noexcept;
template void end_innermost_pair<void>() noexcept;

template pending begin_pending<void>(site& marker, text name, uint32_t device, const payload_values* payload) noexcept;
template void end_handle<void>(const pending& done) noexcept;

template handed_over hand_over<void>() noexcept;
template pending_operation submit_event<void>(text name, uint32_t device, uint32_t kind, uint64_t queue,
                                              const payload_values* payload, const char* file, const char* function,
                                              uint32_t line, const handed_over* when) noexcept;
template void abandon_operation<void>(const pending& begun, loss why) noexcept;
template void complete_operation<void>(const pending_operation& done, uint64_t started_ns, uint64_t ended_ns) noexcept;

template void record_instant<void>(site& marker, text name, double value) noexcept;
template void keep_metadata<void>(text name, text value) noexcept;

}  // namespace detail

}}  // namespace adaptyst::v1
