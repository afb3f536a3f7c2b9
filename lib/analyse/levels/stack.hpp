// The analyses of XSP (Li et al., IPDPS 2020, arXiv 1908.06869), A1 to A15, from figures by level: which layers of a model
// take its time, which kernels take a layer's, how near these come to what they compute and move. Pure.
//
// A kernel is what runs on a device; on the host, a region of level library, without those that it calls. Where there are
// models, what is in none of them is left out.
#ifndef ADAPTYST_LIB_ANALYSE_LEVELS_STACK_HPP
#define ADAPTYST_LIB_ANALYSE_LEVELS_STACK_HPP

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "levels.hpp"

namespace adaptyst::lib {

// What some regions did in a run, together. Absent: not known of each of them.
struct stack_work {
  double calls = 0;
  double total_ns = 0;
  std::optional<double> bytes, flops;

  std::optional<double> intensity() const;  // flops for each byte; absent without bytes
  std::optional<double> gflops_per_s() const;
  std::optional<double> gbytes_per_s() const;
};

struct stack_model {  // A1, A15, and of A13
  std::string name;
  std::optional<double> batch;
  double latency_ns = 0;  // of a call
  std::optional<double> item_latency_ns, items_per_s;
  std::size_t layers = 0;
  stack_work kernels;
};

struct stack_layer {      // A2, A3, A4, A11 to A14
  std::size_t model = 0;  // an index; of models.size(): of none
  std::string type, shape;
  stack_work work;
  std::optional<adaptyst::roofline> roofline;  // of `work`; absent: flops, bytes or ceilings are not known
  stack_work kernels;
  double device_ns = 0;            // of kernels on devices
  std::optional<double> other_ns;  // the rest of the layer; absent: it has no kernels
};

struct stack_type {  // A5, A6, A7
  std::string type;
  std::size_t layers = 0;
  double share_of_layers = 0;  // of their number
  std::optional<double> share_of_time;
  stack_work work;
};

struct stack_kernel {                // A8, A9
  std::optional<std::size_t> layer;  // an index
  std::string name, device;
  stack_work work;
  std::optional<adaptyst::roofline> roofline;  // as of a layer; absent of devices, which have no ceilings
};

struct stack_kernel_name {  // A10
  std::string name;
  std::size_t layers = 0;  // in how many
  stack_work work;
};

struct stack_result {
  std::vector<stack_model> models;
  std::vector<stack_layer> layers;    // in the order of the levels' regions
  std::vector<stack_type> types;      // from the one that takes longest
  std::vector<stack_kernel> kernels;  // likewise
  std::vector<stack_kernel_name> kernel_names;
};

stack_result analyse_stack(const levels_result& from);

}  // namespace adaptyst::lib

#endif
