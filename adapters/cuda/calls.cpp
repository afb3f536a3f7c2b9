// Turns CUPTI's callbacks on CUDA calls into regions: a call that submits work is noted for its records, a call in
// which the host waits becomes a wait region. Only the outermost call counts: functions of the runtime call those of
// the driver.
#include "calls.hpp"

#include <adaptyst/adapter/callback_region.hpp>
#include <string_view>

namespace cuda_adapter {
namespace {

// Functions of the runtime call those of the driver: only the outermost observed call counts.
struct open_call {
  int domain;  // 0: none
  std::uint32_t correlation;
  adaptyst::callback_region wait;
  adaptyst::submission submitted;
};
thread_local open_call current{};

bool has(std::string_view text, std::string_view part) noexcept { return text.find(part) != text.npos; }

}  // namespace

role find_role(const char* function) noexcept {
  const std::string_view name(function);
  if (has(name, "ProfilerStop") || has(name, "DeviceReset") || has(name, "CtxReset") || has(name, "CtxDestroy"))
    return ends_profile;
  if (has(name, "Synchronize")) return waits;
  if (has(name, "Graph")) return has(name, "GraphLaunch") ? gives_work : nothing;
  if (has(name, "Launch")) return has(name, "HostFunc") ? nothing : gives_work;
  if (has(name, "Memset")) return gives_work;
  if (!has(name, "Memcpy")) return nothing;
  for (const char* const goes_on : {"Async", "Peer", "Batch", "DtoD", "DtoA", "AtoD", "AtoA", "ArrayToArray"})
    if (has(name, goes_on)) return gives_work;
  return static_cast<role>(gives_work | waits);
}

cupti::result calls::subscribe() noexcept {
  for (const int domain : {cupti::domain_driver, cupti::domain_runtime}) {
    for (std::uint32_t function = 1; function != max_functions; ++function) {
      const char* name = nullptr;
      if (in_.get_callback_name(domain, function, &name) != cupti::success || name == nullptr) continue;
      roles_[domain - cupti::domain_driver][function] = find_role(name);
      if (domain == cupti::domain_driver) memory_calls_[function] = find_memory_call(name);
    }
  }
  return in_.subscribe(&subscriber_, &calls::on_call, this);
}

void calls::listen(bool on) noexcept {
  for (const int domain : {cupti::domain_driver, cupti::domain_runtime})
    for (std::uint32_t function = 1; function != max_functions; ++function)
      if (roles_[domain - cupti::domain_driver][function] != nothing ||
          (domain == cupti::domain_driver && memory_calls_[function] != memory_call::none))
        in_.enable_callback(on ? 1 : 0, subscriber_, domain, function);
  for (const std::uint32_t event : {cupti::context_destroyed, cupti::graph_node_created})
    in_.enable_callback(on ? 1 : 0, subscriber_, cupti::domain_resource, event);
}

void calls::enter(role what, int domain, const cupti::call& call) noexcept {
  if ((what & ends_profile) != 0) return end_profile_();
  if (current.domain == cupti::domain_runtime && domain == cupti::domain_driver) {
    if ((what & gives_work) != 0 && call.correlation != current.correlation && current.submitted)
      launched_.note(call.correlation, current.submitted);
    return;
  }
  current = {domain, call.correlation, {}, adaptyst::submitting()};
  if ((what & gives_work) != 0 && current.submitted) launched_.note(call.correlation, current.submitted);
  if ((what & waits) != 0) current.wait = adaptyst::callback_region::begin_wait(call.function);
}

void calls::leave(int domain, const cupti::call& call) noexcept {
  if (current.domain != domain || current.correlation != call.correlation) return;
  current.wait.end();
  current = {};
}

void calls::on_call(void* self, int domain, std::uint32_t function, const void* what) noexcept {
  calls& all = *static_cast<calls*>(self);
  if (domain == cupti::domain_resource) {
    if (function == cupti::graph_node_created) device_memory::note_graph_node();
    if (function == cupti::context_destroyed) all.memory_.destroy(static_cast<const cupti::resource*>(what)->context);
    return;
  }
  if (domain < cupti::domain_driver || domain > cupti::domain_runtime || function >= max_functions) return;
  const cupti::call& call = *static_cast<const cupti::call*>(what);
  const bool enters = call.site == cupti::site_enter;
  if (domain == cupti::domain_driver && all.memory_calls_[function] != memory_call::none) {
    if (enters) all.memory_.enter(all.memory_calls_[function], call);
    else all.memory_.leave(all.memory_calls_[function], call);
  }
  const role role = all.roles_[domain - cupti::domain_driver][function];
  if (role == nothing) return;
  if (enters) all.enter(role, domain, call);
  else all.leave(domain, call);
}

}  // namespace cuda_adapter
