#include "thread_context.hpp"

#include "../support/error.hpp"

namespace adaptyst::lib {

std::unique_ptr<thread_context> ask_for_context(const options& options, subject subject, const source& source) {
  const bool samples = options.wants_samples();
  if (!samples && (!options.context.cpu || (!options.context.asked && !source.in_kernel()))) return nullptr;
  try {
    return make_thread_context(options, subject, source.among_functions());
  } catch (const std::exception& failed) {  // regions are observed without it
    if (options.context.asked || samples) complain(failed.what());
    return nullptr;
  }
}

}  // namespace adaptyst::lib
