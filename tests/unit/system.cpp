// What the headers declare by hand is what the system's say.
#include <adaptyst/detail/system.hpp>
#include <errno.h>
#include <link.h>
#include <pthread.h>
#include <sys/mman.h>
#include <time.h>

#include <cstddef>
#include <type_traits>

#include "catch.hpp"

namespace ours = adaptyst::detail::system;

TEST_CASE("constants and types are the system's") {
  CHECK(ours::clock_monotonic == CLOCK_MONOTONIC);
  CHECK(ours::read_write == (PROT_READ | PROT_WRITE));
  CHECK(ours::private_memory == (MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE));
  CHECK(ours::wipe_on_fork == MADV_WIPEONFORK);
  CHECK(ours::interrupted == EINTR);
  CHECK(sizeof(ours::time) == sizeof(timespec));
  CHECK(offsetof(ours::time, nanoseconds) == offsetof(timespec, tv_nsec));
  CHECK(sizeof(off_t) == sizeof(std::int64_t));
  CHECK(std::is_same_v<pthread_key_t, unsigned>);
}

TEST_CASE("functions are the library's") {
  errno = 4711;
  CHECK(*ours::error_number() == 4711);
  ours::time now{};
  REQUIRE(ours::get_time(ours::clock_monotonic, &now) == 0);
  timespec later{};
  REQUIRE(clock_gettime(CLOCK_MONOTONIC, &later) == 0);
  CHECK(later.tv_sec - now.seconds <= 10);
  CHECK(reinterpret_cast<void*>(&ours::map) == reinterpret_cast<void*>(&mmap));
  CHECK(reinterpret_cast<void*>(&ours::for_each_object) == reinterpret_cast<void*>(&dl_iterate_phdr));
}
