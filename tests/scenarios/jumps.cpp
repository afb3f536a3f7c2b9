// Ways of leaving a region that no destructor sees.
#include <adaptyst/offload.hpp>
#include <adaptyst/region.hpp>
#include <csetjmp>
#include <csignal>
#include <memory>
#include <sys/time.h>
#include <thread>

#include "collecting.hpp"

namespace {

std::jmp_buf back;

[[gnu::noinline]] void jump_out() {
  ADAPTYST_REGION("abandoned");
  ADAPTYST_REGION("abandoned below");
  std::longjmp(back, 1);
}

volatile std::sig_atomic_t handled = 0;

void handler(int) {
  ADAPTYST_REGION("in handler");
  handled = handled + 1;
}

}  // namespace

TEST_CASE("regions left by longjmp are counted as unmatched and disturb no other") {
  constexpr std::uint64_t jumps = 10000;
  adaptyst::collector collector(support::options());
  std::thread([] {  // on a thread of its own: what it leaves open goes with it
    for (volatile std::uint64_t i = 0; i < jumps; i = i + 1)
      if (setjmp(back) == 0) jump_out();
    {
      ADAPTYST_REGION("afterwards");
      if (setjmp(back) == 0) jump_out();
    }
    { ADAPTYST_REGION("afterwards"); }
  })
      .join();
  const adaptyst::profile profile = collector.stop();
  support::check_identity(profile);
  CHECK(profile.accounting.begun == 2 * (jumps + 1) + 2);
  CHECK(profile.accounting.ended == 2);
  // The last jump outside a region has nothing that it could be recognised by: its two regions stay open.
  CHECK(support::lost(profile, adaptyst::loss_reason::unmatched) + profile.accounting.open == 2 * (jumps + 1));
  CHECK(support::lost(profile, adaptyst::loss_reason::unmatched) >= 2 * jumps);
  CHECK(profile.accounting.unmatched == support::lost(profile, adaptyst::loss_reason::unmatched));
}

TEST_CASE("a wait left by longjmp ends when its region is found abandoned") {
  adaptyst::collector collector(support::options());
  std::thread([] {
    ADAPTYST_REGION("outer");
    if (setjmp(back) == 0) {
      ADAPTYST_WAIT("abandoned wait");
      std::longjmp(back, 1);
    }
  }).join();
  const std::uint64_t waited = *collector.snapshot().offload.waited_ns;
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
  const adaptyst::profile profile = collector.stop();
  support::check_identity(profile);
  CHECK(support::lost(profile, adaptyst::loss_reason::unmatched) == 1);
  CHECK(*profile.offload.waited_ns == waited);
}

TEST_CASE("a scope that ends on another thread is an end without a begin") {
  adaptyst::collector collector(support::options());
  struct holder {
    adaptyst::detail::scope<> held;
  };
  std::unique_ptr<holder> moved;
  std::thread([&] {
    static adaptyst::detail::site site{"migrates", 8, "here", "test", 1, ADAPTYST_SITE_REGION, nullptr};
    moved = std::unique_ptr<holder>(::new holder{adaptyst::detail::scope<>(adaptyst::detail::begin_named(site))});
  }).join();
  {
    ADAPTYST_REGION("mine");
    moved.reset();
  }
  const adaptyst::profile profile = collector.stop();
  support::check_identity(profile);
  CHECK(support::find(profile, {"mine"}).count == 1);
  CHECK(profile.accounting.open == 1);
  CHECK(profile.accounting.unmatched == 1);
}

TEST_CASE("signal handlers may have markers: what meets a writer on its own thread is counted, nothing hangs") {
  adaptyst::collector collector(support::options());
  struct sigaction action {};
  action.sa_handler = handler;
  sigaction(SIGALRM, &action, nullptr);
  handled = 0;
  const itimerval often{{0, 100}, {0, 100}};
  setitimer(ITIMER_REAL, &often, nullptr);
  std::uint64_t main_regions = 0;
  while (handled < 2000) {
    ADAPTYST_REGION("interrupted");
    ++main_regions;
  }
  const itimerval never{};
  setitimer(ITIMER_REAL, &never, nullptr);
  std::signal(SIGALRM, SIG_DFL);
  const std::uint64_t handler_regions = static_cast<std::uint64_t>(handled);
  const adaptyst::profile profile = collector.stop();
  support::check_identity(profile);
  CHECK(profile.accounting.open == 0);
  CHECK(profile.accounting.begun == main_regions + handler_regions);
  std::uint64_t seen = 0;
  for (const adaptyst::region& region : profile.regions)
    if (region.path.back() == "in handler") seen += region.count;
  CHECK(seen + support::lost(profile, adaptyst::loss_reason::in_signal) == handler_regions);
  CHECK(support::find(profile, {"interrupted"}).count == main_regions);
}
