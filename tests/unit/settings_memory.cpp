// The settings that a program gets in memory of its observer: what must hold before the program uses them, and what can be
// written.
#include "recorder/settings_memory.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <memory>

#include "catch.hpp"

namespace {

namespace detail = adaptyst::detail;
using adaptyst::lib::descriptor;
using adaptyst::lib::settings_memory;

// As a program has them: pages of its own.
struct program {
  detail::observer_settings* settings = static_cast<detail::observer_settings*>(
      mmap(nullptr, sizeof(detail::observer_settings), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));

  program() { REQUIRE(settings != MAP_FAILED); }
  ~program() { munmap(settings, sizeof *settings); }
  program(const program&) = delete;
  program& operator=(const program&) = delete;

  bool take(descriptor file) const { return detail::map_settings(*settings, file.release()); }
  std::uint64_t address() const { return reinterpret_cast<std::uint64_t>(settings); }
  std::uint64_t step(std::size_t number) const { return reinterpret_cast<std::uint64_t>(&settings->steps[number]); }
};

descriptor other_file(std::uint64_t bytes, std::uint64_t magic, bool sealed) {
  descriptor made(static_cast<int>(detail::make_memory_file()));
  REQUIRE(ftruncate(made.get(), static_cast<off_t>(bytes)) == 0);
  REQUIRE(pwrite(made.get(), &magic, sizeof magic, 0) == sizeof magic);
  if (sealed) REQUIRE(detail::seal_store(made.get()) == made.get());
  return made;
}

}  // namespace

TEST_CASE("what an observer sets stands where the program looks, and only the observer can write it") {
  const program in;
  settings_memory settings(adaptyst::lib::own_memory());
  descriptor file = settings.file();
  const int number = file.get();
  const descriptor second(fcntl(number, F_DUPFD_CLOEXEC, 0));
  REQUIRE(in.take(std::move(file)));
  CHECK(fcntl(number, F_GETFD) == -1);
  CHECK(settings.file());
  CHECK_FALSE(settings.is_mapped());
  settings.mapped_at(in.address());
  CHECK(settings.is_mapped());
  CHECK_FALSE(settings.file());
  REQUIRE(settings.write(in.step(7), std::uint64_t{3}));
  CHECK(in.settings->steps[7] == 3);
  std::uint64_t read = 0;
  REQUIRE(settings.read(in.step(7), read));
  CHECK(read == 3);
  const std::uint64_t mine = 9;
  CHECK(pwrite(second.get(), &mine, sizeof mine, 4096) == -1);
  CHECK(ftruncate(second.get(), 0) == -1);
  CHECK(mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, second.get(), 0) == MAP_FAILED);

  settings.end(5);
  CHECK(in.settings->over == 1);
  CHECK(in.settings->steps[0] == detail::unclaimed_step);
  CHECK(in.settings->steps[4] == detail::unclaimed_step);
  CHECK(in.settings->steps[5] == 0);
  settings.end(~std::uint64_t{0});  // of one that lies
  CHECK(in.settings->steps[detail::max_sites - 1] == detail::unclaimed_step);
  CHECK(in.settings->tails[0] == 0);
  detail::clear_settings(*in.settings);
  CHECK(in.settings->over == 0);
  in.settings->steps[7] = 5;
  CHECK(in.settings->steps[7] == 5);
}

TEST_CASE("nothing but settings is written, whatever the program says of its place") {
  const program in;
  settings_memory settings(adaptyst::lib::own_memory());
  std::uint64_t word = 4711;
  const auto there = reinterpret_cast<std::uint64_t>(&word);
  CHECK_FALSE(settings.write(there, std::uint64_t{1}));
  for (const std::uint64_t base : {in.address(), there, there - offsetof(detail::observer_settings, steps),
                                   ~std::uint64_t{0} - 7, std::uint64_t{0}, std::uint64_t{8}}) {
    settings.mapped_at(base);
    for (const std::uint64_t at :
         {there, base, base + 8, base + sizeof(detail::observer_settings), base - 8, base + 4097}) {
      if (at - base >= offsetof(detail::observer_settings, steps) && at - base < sizeof(detail::observer_settings) &&
          at % 8 == 0)
        continue;
      errno = 0;
      CHECK_FALSE(settings.write(at, std::uint64_t{1}));
      CHECK(errno == EPERM);
    }
  }
  settings.mapped_at(in.address());
  const std::uint64_t two[2] = {1, 2};
  CHECK_FALSE(settings.write(in.address() + sizeof(detail::observer_settings) - 8, two, sizeof two));
  CHECK(word == 4711);
  REQUIRE(settings.read(there, word));  // lies elsewhere
  CHECK(word == 4711);
}

TEST_CASE("a program ignores a file that could be cut off, is not of this layout, or is none") {
  const program in;
  in.settings->steps[1] = 5;
  CHECK_FALSE(in.take(descriptor()));
  CHECK_FALSE(in.take(other_file(sizeof(detail::observer_settings), detail::settings_magic, false)));
  CHECK_FALSE(in.take(other_file(sizeof(detail::observer_settings) - 4096, detail::settings_magic, true)));
  CHECK_FALSE(in.take(other_file(sizeof(detail::observer_settings), detail::settings_magic + 1, true)));
  int ends[2];
  REQUIRE(pipe(ends) == 0);
  close(ends[1]);
  CHECK_FALSE(in.take(descriptor(ends[0])));
  CHECK(in.settings->steps[1] == 5);
  CHECK(in.take(other_file(sizeof(detail::observer_settings), detail::settings_magic, true)));
}

TEST_CASE("a step that is none is the engine's") {
  adaptyst_site site{};
  std::uint64_t step = 0;
  site.step = &step;
  for (const std::uint64_t none : {std::uint64_t{ADAPTYST_STEP_LAST} + 1, std::uint64_t{1} << 32, ~std::uint64_t{0}}) {
    step = none;
    CHECK(detail::read_step(site) == ADAPTYST_STEP_ENGINE);
  }
  step = ADAPTYST_STEP_LAST;
  CHECK(detail::read_step(site) == ADAPTYST_STEP_LAST);
}
