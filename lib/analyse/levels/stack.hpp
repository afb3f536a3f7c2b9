// The analyses A1 to A15 of XSP (Li et al., IPDPS 2020, arXiv 1908.06869), from figures by level: the layers that take
// a model's time, the kernels that take a layer's time, and their rooflines. Pure.
// A kernel is an operation of a device, or on the host a region of level library without the regions that it calls. If
// there are models, regions outside all models are omitted.
#ifndef ADAPTYST_LIB_ANALYSE_LEVELS_STACK_HPP
#define ADAPTYST_LIB_ANALYSE_LEVELS_STACK_HPP

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "levels.hpp"

namespace adaptyst::lib {

// The work of several regions in a call of their model; without a model, in a run. `bytes` and `flops` are of regions
// with known amounts, which took `bytes_ns` and `flops_ns` of total_ns. Absent: no region has a known amount.
struct stack_work {
  double calls = 0;
  double total_ns = 0;
  std::optional<double> bytes, flops;
  double bytes_ns = 0, flops_ns = 0;

  // Shares of total_ns, in [0, 1]; absent if total_ns is 0.
  std::optional<double> bytes_share() const;
  std::optional<double> flops_share() const;
  std::optional<double> intensity()
      const;  // flops for each byte; absent without bytes, and if a region's amount is unknown
  std::optional<double> gflops_per_s() const;  // in flops_ns
  std::optional<double> gbytes_per_s() const;  // in bytes_ns
};

struct stack_model {  // A1, A15, part of A13
  std::vector<std::string> path;
  std::string name;
  std::optional<double> batch;
  double latency_ns = 0;  // per call
  std::optional<double> item_latency_ns, items_per_s;
  // The least batch that, doubled, adds at most 5 % of items_per_s; at most one of the batches of a model. Absent for a
  // single batch.
  std::optional<bool> is_optimal_batch;
  std::size_t layers = 0;  // different ones
  double executed = 0;     // layers in a call of the model
  stack_work kernels;
};

struct stack_layer {      // A2, A3, A4, A11 to A14
  std::size_t model = 0;  // an index; models.size(): no model
  double executed = 0;    // calls in a call of the model; without a model: calls in a run
  std::vector<std::string> path;
  std::string type, shape;
  stack_work work;
  std::optional<adaptyst::roofline> roofline;  // of `work`; absent: flops, bytes or ceilings are unknown
  stack_work kernels;
  double device_ns = 0;            // time of kernels on devices
  std::optional<double> other_ns;  // the rest of the layer; absent: the layer has no kernels
};

struct stack_type {  // A5, A6, A7, of one model
  std::string type;
  std::size_t model = 0;       // an index; the number of models: none
  std::size_t layers = 0;      // different ones
  double executed = 0;         // the sum over its layers
  double share_of_layers = 0;  // share of the executed layers of the model
  std::optional<double> share_of_time;
  stack_work work;
};

struct stack_kernel {                // A8, A9
  std::optional<std::size_t> layer;  // an index
  std::string name, device;
  std::size_t model = 0;  // an index; the number of models: none
  stack_work work;
  std::optional<adaptyst::roofline> roofline;  // as for a layer; absent for devices, which have no ceilings
};

struct stack_kernel_name {  // A10, of one model
  std::string name;
  std::size_t model = 0;   // an index; the number of models: none
  std::size_t layers = 0;  // number of layers with this kernel
  stack_work work;
};

struct executed_layer {   // A2 to A4, A13, A14, at a position of a pass
  std::size_t layer = 0;  // an index
  estimate latency_ns;    // over the passes
  // Means over the passes. Absent: the kernels of the layer are not linked to its calls.
  std::optional<double> kernels_ns, device_ns;
  std::optional<double> other_ns;  // also absent without kernels
};

// The layers of a model in their order of execution (executed_layers.hpp).
struct stack_pass {
  std::size_t model = 0;         // an index; models.size(): no model
  std::size_t passes = 0;        // that execute these layers
  std::size_t other_passes = 0;  // that execute another sequence
  std::vector<executed_layer> layers;
};

struct stack_result {
  std::vector<stack_model> models;
  std::vector<stack_layer> layers;    // in the order of the levels' regions
  std::vector<stack_type> types;      // longest first
  std::vector<stack_kernel> kernels;  // longest first
  std::vector<stack_kernel_name> kernel_names;
  std::vector<stack_pass> passes;  // empty: no order was recorded
};

stack_result analyse_stack(const levels_result& from);

}  // namespace adaptyst::lib

#endif
