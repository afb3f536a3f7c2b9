// A library with NVTX of its own, and a function that annotates. Its program has NVTX as well.
#include "nvtx_host.hpp"

extern "C" __attribute__((visibility("default"))) void annotate_in_plugin(int times) {
  const nvtxDomainHandle_t domain = nvtxDomainCreateA("solver");
  nvtxEventAttributes_t event;
  event.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
  event.message.registered = nvtxDomainRegisterStringA(domain, "assembly");
  for (int at = 0; at != times; ++at) {
    nvtxDomainRangePushEx(domain, &event);
    nvtxRangePushA("in the plugin");
    nvtxRangePop();
    nvtxDomainRangePop(domain);
  }
}
