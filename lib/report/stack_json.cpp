#include "stack_forms.hpp"

namespace adaptyst::lib {

namespace {

using json = nlohmann::ordered_json;

json to_value(const std::optional<double>& from) { return from ? json(*from) : json(nullptr); }

// What is known of no call is no amount.
json to_value(const stack_work& from) {
  json made;
  made["calls"] = from.calls;
  made["total_ns"] = from.total_ns;
  made["bytes"] = to_value(from.bytes);
  made["flops"] = to_value(from.flops);
  made["intensity"] = to_value(from.intensity());
  made["gflops_per_s"] = to_value(from.gflops_per_s());
  made["gbytes_per_s"] = to_value(from.gbytes_per_s());
  return made;
}

}  // namespace

json roofline_to_value(const roofline& from) {
  json made;
  made["ai"] = from.flops_per_byte;
  made["gflops"] = from.gflops;
  made["gbytes_per_s"] = from.gbytes_per_s;
  made["attainable_gflops"] = from.attainable_gflops;
  made["share"] = from.share;
  made["bound"] = to_string(from.bound);
  made["threads"] = from.threads;
  return made;
}

json stack_to_value(const stack_result& result) {
  json all;
  for (const char* const key : {"models", "layers", "types", "kernels", "kernel_names"}) all[key] = json::array();
  for (const stack_model& one : result.models)
    all["models"].push_back({{"name", one.name},
                             {"batch", to_value(one.batch)},
                             {"latency_ns", one.latency_ns},
                             {"item_latency_ns", to_value(one.item_latency_ns)},
                             {"items_per_s", to_value(one.items_per_s)},
                             {"layers", one.layers},
                             {"kernels", to_value(one.kernels)}});
  for (const stack_layer& one : result.layers) {
    json made({{"model", one.model != result.models.size() ? json(one.model) : json(nullptr)},
               {"type", one.type},
               {"shape", one.shape},
               {"work", to_value(one.work)},
               {"kernels", to_value(one.kernels)},
               {"device_ns", one.device_ns},
               {"other_ns", to_value(one.other_ns)}});
    if (one.roofline) made["roofline"] = roofline_to_value(*one.roofline);
    all["layers"].push_back(std::move(made));
  }
  for (const stack_type& one : result.types)
    all["types"].push_back({{"type", one.type},
                            {"layers", one.layers},
                            {"share_of_layers", one.share_of_layers},
                            {"share_of_time", to_value(one.share_of_time)},
                            {"work", to_value(one.work)}});
  for (const stack_kernel& one : result.kernels) {
    json made({{"name", one.name},
               {"layer", one.layer ? json(*one.layer) : json(nullptr)},
               {"device", one.device},
               {"work", to_value(one.work)}});
    if (one.roofline) made["roofline"] = roofline_to_value(*one.roofline);
    all["kernels"].push_back(std::move(made));
  }
  for (const stack_kernel_name& one : result.kernel_names)
    all["kernel_names"].push_back({{"name", one.name}, {"layers", one.layers}, {"work", to_value(one.work)}});
  return all;
}

}  // namespace adaptyst::lib
