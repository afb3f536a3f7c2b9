// Calls of the region probes.
#ifndef ADAPTYST_DETAIL_PROBE_CALLS_HPP
#define ADAPTYST_DETAIL_PROBE_CALLS_HPP

#include "recorder.hpp"

namespace adaptyst { inline namespace v1 { namespace detail {

template <class = void>
ADAPTYST_DETAIL_COLD inline uint64_t fire_begin_probe(const recorder& r, const frame& opened) noexcept {
  const uint64_t token = opened.token;
  adaptyst_probe_region_begin(opened.path->site->name, opened.path->id,
                              to_monotonic_ns(r.owner->control.clock, opened.begin), opened.path->depth, opened.path);
  return token;
}

template <class = void>
ADAPTYST_DETAIL_INLINE auto* end_probe(const process& in) noexcept {
  return ADAPTYST_DETAIL_UNLIKELY(load(in.forks) != 0) ? adaptyst_probe_region_end_of_child : adaptyst_probe_region_end;
}

template <class = void>
__attribute__((noinline)) ADAPTYST_DETAIL_HIDDEN inline void fire_end_probe(const process& in, uint64_t begin,
                                                                            uint64_t duration_ns, uint64_t self_ns,
                                                                            const adaptyst_path* path) noexcept {
  const uint64_t begin_ns = to_monotonic_ns(in.control.clock, begin);
  end_probe(in)(path->site->name, path->id, begin_ns, begin_ns + duration_ns, self_ns, path);
}

}}}  // namespace adaptyst::v1::detail

#endif
