// A store that is held: what must be so before it is believed, and what can be done to it then.
#include "recorder/held_memory.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <adaptyst/detail/recorder_store.hpp>
#include <algorithm>
#include <cerrno>
#include <cstring>

#include "catch.hpp"
#include "support/error.hpp"

namespace {

namespace detail = adaptyst::detail;
using adaptyst::lib::descriptor;
using adaptyst::lib::held_memory;

// A store as a program makes it, and a descriptor of it.
struct store {
  long file = -1;
  detail::recorder_store* mapped = detail::map_store(file);

  store() {
    REQUIRE(mapped != nullptr);
    REQUIRE(file >= 0);
  }
  ~store() {
    munmap(mapped, mapped->head.bytes);
    close(static_cast<int>(file));
  }
  store(const store&) = delete;
  store& operator=(const store&) = delete;

  void seal() { REQUIRE(detail::seal_store(file) == file); }
  descriptor held() const { return descriptor(fcntl(static_cast<int>(file), F_DUPFD_CLOEXEC, 0)); }
  std::uint64_t address() const { return reinterpret_cast<std::uint64_t>(mapped); }
};

bool is_refused(descriptor file) {
  try {
    const held_memory held(std::move(file), adaptyst::lib::own_memory());
    return false;
  } catch (const adaptyst::error&) {
    return true;
  }
}

}  // namespace

TEST_CASE("a store has addresses for a sixteenth of the machine's memory") {
  const auto memory =
      static_cast<std::uint64_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  const std::uint64_t most = detail::largest_store();
  CHECK(most >= detail::smallest_store);
  CHECK((most == detail::smallest_store || most <= memory / 16));
  CHECK(most >= std::min(memory / 32, std::uint64_t{1} << 30));  // ThreadSanitizer has no more room
}

TEST_CASE("what a program has written into its store is read by the program's addresses") {
  store made;
  made.seal();
  const held_memory held(made.held(), adaptyst::lib::own_memory());
  CHECK(held.address() == made.address());
  auto* const words = static_cast<std::uint64_t*>(made.mapped->allocate(16));
  words[1] = 4711;
  std::uint64_t read = 0;
  CHECK(held.read(reinterpret_cast<std::uint64_t>(words + 1), read));
  CHECK(read == 4711);
  auto* const text = static_cast<char*>(made.mapped->allocate(8));
  std::strcpy(text, "solve");
  CHECK(held.text(reinterpret_cast<std::uint64_t>(text), 127) == "solve");
  CHECK(held.text(reinterpret_cast<std::uint64_t>(text), 3) == "sol");
}

TEST_CASE("what was never written is zero, and takes no memory by being read") {
  store made;
  made.seal();
  const held_memory held(made.held(), adaptyst::lib::own_memory());
  struct stat before {};
  struct stat after {};
  REQUIRE(fstat(static_cast<int>(made.file), &before) == 0);
  std::uint64_t read = 1;
  for (std::uint64_t at = 0; at < 64; ++at) {
    CHECK(held.read(made.address() + made.mapped->head.bytes / 64 * at + (std::uint64_t{1} << 20), read));
    CHECK(read == 0);
  }
  REQUIRE(fstat(static_cast<int>(made.file), &after) == 0);
  CHECK(after.st_blocks == before.st_blocks);
}

TEST_CASE("nothing is read beyond its end; what lies elsewhere is asked of the memory next to it") {
  store made;
  made.seal();
  const held_memory held(made.held(), adaptyst::lib::own_memory());
  std::uint64_t words[2] = {1, 2};
  std::uint64_t read = 0;
  CHECK(held.read(reinterpret_cast<std::uint64_t>(&words[1]), read));
  CHECK(read == 2);
  CHECK(held.read(made.address() + made.mapped->head.bytes - 8, read));
  CHECK(held.text(made.address() + made.mapped->head.bytes - 1, 127).empty());
}

TEST_CASE("who holds a store can neither write it nor cut it off") {
  store made;
  made.seal();
  const descriptor held = made.held();
  CHECK(ftruncate(held.get(), 0) != 0);
  CHECK(ftruncate(held.get(), static_cast<off_t>(made.mapped->head.bytes * 2)) != 0);
  CHECK(pwrite(held.get(), "x", 1, 0) != 1);
  CHECK(mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, held.get(), 0) == MAP_FAILED);
  CHECK(fcntl(held.get(), F_ADD_SEALS, F_SEAL_WRITE) != 0);
  made.mapped->head.epoch = 5;  // its program can
}

TEST_CASE("what is no store is refused") {
  CHECK(is_refused(descriptor(-1)));
  CHECK(is_refused(descriptor(open("/dev/zero", O_RDWR | O_CLOEXEC))));
  const descriptor empty(static_cast<int>(memfd_create("adaptyst", MFD_CLOEXEC | MFD_ALLOW_SEALING)));
  REQUIRE(fcntl(empty.get(), F_ADD_SEALS, static_cast<int>(detail::store_seals)) == 0);
  CHECK(is_refused(descriptor(fcntl(empty.get(), F_DUPFD_CLOEXEC, 0))));
  store made;
  CHECK(is_refused(made.held()));  // not sealed
  made.seal();
  CHECK_FALSE(is_refused(made.held()));
  made.mapped->head.bytes += 4096;
  CHECK(is_refused(made.held()));
  made.mapped->head.bytes -= 4096;
  made.mapped->head.base += 8;
  CHECK(is_refused(made.held()));
  made.mapped->head.base = ~std::uint64_t{4095};
  CHECK(is_refused(made.held()));
  made.mapped->head.base = made.address();
}
