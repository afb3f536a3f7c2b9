// Opens libcupti.so at run time and looks up the functions that the adapter calls, so that programs also run without
// it.
#include "cupti_library.hpp"

#include <dlfcn.h>

#include <cstdlib>

namespace cupti {
namespace {

// The loader's own directories first, then the folders of NVIDIA's packages, which the loader does not search.
constexpr const char* places[] = {
    "libcupti.so.13",
    "libcupti.so.12",
    "/usr/local/cuda/lib64/libcupti.so.13",
    "/usr/local/cuda/lib64/libcupti.so.12",
    "/usr/local/cuda/extras/CUPTI/lib64/libcupti.so",
};

void* open_any() {
  if (const char* const chosen = secure_getenv("ADAPTYST_CUPTI")) return dlopen(chosen, RTLD_NOW | RTLD_LOCAL);
  for (const char* const place : places)
    if (void* const opened = dlopen(place, RTLD_NOW | RTLD_LOCAL)) return opened;
  return nullptr;
}

template <class Function>
bool find(void* in, const char* name, Function*& found) {
  found = reinterpret_cast<Function*>(dlsym(in, name));
  return found != nullptr;
}

}  // namespace

std::string open(library& opened) {
  void* const in = open_any();
  if (in == nullptr) {
    const char* const chosen = secure_getenv("ADAPTYST_CUPTI");
    return (chosen != nullptr ? std::string("cannot open ") + chosen : std::string("found no libcupti.so.13 or .12")) +
           "; ADAPTYST_CUPTI=FILE names another";
  }
  find(in, "cuptiActivityRegisterTimestampCallback", opened.register_timestamp);
  const bool complete =
      find(in, "cuptiGetVersion", opened.get_version) && find(in, "cuptiGetResultString", opened.get_result_string) &&
      find(in, "cuptiActivityRegisterCallbacks", opened.register_buffers) &&
      find(in, "cuptiSubscribe", opened.subscribe) && find(in, "cuptiEnableCallback", opened.enable_callback) &&
      find(in, "cuptiGetCallbackName", opened.get_callback_name) &&
      find(in, "cuptiGetDeviceId", opened.get_device_id) && find(in, "cuptiActivityEnable", opened.enable) &&
      find(in, "cuptiActivityDisable", opened.disable) && find(in, "cuptiActivityFlushAll", opened.flush_all) &&
      find(in, "cuptiActivityGetNextRecord", opened.next_record) &&
      find(in, "cuptiActivityGetNumDroppedRecords", opened.get_dropped);
  if (!complete) return "this libcupti.so lacks functions that CUDA 12 has";
  std::uint32_t version = 0;
  if (opened.get_version(&version) != success || version < oldest_version)
    return "this libcupti.so is of version " + std::to_string(version) + ", which is too old";
  return {};
}

std::string error_text(const library& in, result what) {
  const char* text = nullptr;
  if (in.get_result_string(what, &text) != success || text == nullptr) text = "unknown";
  return std::string(text) + " (" + std::to_string(what) + ")";
}

}  // namespace cupti
