// Records the calls of models, layers and kernels of a trace, for the order of layers (executed_layers.hpp).
#ifndef ADAPTYST_LIB_ANALYSE_LEVELS_LAYER_RECORDER_HPP
#define ADAPTYST_LIB_ANALYSE_LEVELS_LAYER_RECORDER_HPP

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "../../trace/trace_profile.hpp"
#include "executed_layers.hpp"

namespace adaptyst::lib {

// Passes all events on to `sums`. Memory: at most `most` records of models and layers, and as many of kernels, of 32
// bytes each; the order is then that of the passes before the first omitted record of their thread.
class layer_recorder final : public trace_writer {
 public:
  static constexpr std::size_t usual_most = std::size_t{1} << 20U;

  // `deepest`: of the levels in the result.
  layer_recorder(trace_profile& sums, const detail::level_settings& rules, level deepest, std::size_t most = usual_most)
      : sums_(sums), rules_(rules), deepest_(deepest), most_(most) {}

  void name_process(std::int64_t process, const traced_process& what) override { sums_.name_process(process, what); }
  void name_thread(std::int64_t process, std::uint32_t thread, const std::string& name) override {
    sums_.name_thread(process, thread, name);
  }
  bool knows_thread(std::int64_t process, std::uint32_t thread) const override {
    return sums_.knows_thread(process, thread);
  }
  void name_device(std::int64_t process, std::uint32_t device, const traced_device& what) override {
    sums_.name_device(process, device, what);
  }
  bool knows_device(std::int64_t process, std::uint32_t device) const override {
    return sums_.knows_device(process, device);
  }
  void add(std::int64_t process, const traced_event& event) override;
  void add_loss(std::int64_t process, const std::string& reason, std::uint64_t events) override {
    sums_.add_loss(process, reason, events);
  }
  std::uint64_t lost() const noexcept override { return sums_.lost(); }
  void flush() override {}
  void finish() override {}

  // Empty if the paths of some layers are unknown.
  timed_layers take();
  // Limits of the order.
  std::vector<std::string> remarks() const override;

 private:
  enum class site_role { none, model, layer, kernel };
  struct site_facts {
    level at = level::application;
    site_role role = site_role::none;
    std::uint32_t path = 0;   // of a model or layer
    std::uint32_t layer = 0;  // the path of the innermost layer, from 1; 0: none
    bool is_in_library = false;
  };

  const site_facts& find_site(const traced_site& site);
  site_facts make_site(const traced_site& site, const site_facts* around);
  // Empty: there are too many names.
  bool add_path(const traced_site& site, level at, std::uint32_t& to);
  std::uint32_t find_thread(std::int64_t process, std::uint32_t thread);
  void omit(std::uint32_t thread, std::uint64_t begin_ns);

  trace_profile& sums_;
  const detail::level_settings& rules_;
  level deepest_;
  std::size_t most_;
  timed_layers made_;
  std::unordered_map<const traced_site*, site_facts> sites_;
  std::map<std::pair<std::int64_t, std::uint32_t>, std::uint32_t> threads_;
  std::map<std::vector<std::string>, std::uint32_t> numbers_;  // of paths
  std::size_t path_bytes_ = 0;
  bool is_cut_ = false, has_too_many_paths_ = false;
};

}  // namespace adaptyst::lib

#endif
