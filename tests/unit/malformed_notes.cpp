// Files that are no ELF files, or only half: a clean error, or what is left of the probes, but nothing worse. Worth
// most under AddressSanitizer.
#include <elf.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "catch.hpp"
#include "discover/elf_probes.hpp"
#include "discover/process_objects.hpp"
#include "support/error.hpp"

namespace {

using adaptyst::lib::elf_probe;
using adaptyst::lib::find_elf_markers;

// A small program with markers, as built next to this test.
const std::string& original() {
  static const std::string bytes = [] {
    std::ifstream in(ADAPTYST_TEST_TRACED, std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(in), {});
  }();
  return bytes;
}

class file {
 public:
  explicit file(const std::string& content) {
    const char* const temporary = std::getenv("TMPDIR");
    name_ = std::string(temporary != nullptr ? temporary : "/tmp") + "/adaptyst-elf-XXXXXX";
    const int descriptor = mkstemp(name_.data());
    REQUIRE(descriptor >= 0);
    REQUIRE(write(descriptor, content.data(), content.size()) == static_cast<ssize_t>(content.size()));
    close(descriptor);
  }
  ~file() { unlink(name_.c_str()); }
  file(const file&) = delete;
  file& operator=(const file&) = delete;
  const std::string& name() const { return name_; }

 private:
  std::string name_;
};

struct outcome {
  std::vector<elf_probe> probes;
  std::string error;  // that was thrown, or is in the way of the probes of a file with a control block
  std::uint64_t control_block = 0;
};

// What comes of a file with this content. Only errors of ours, which name the file, are good ones.
outcome read(const std::string& content) {
  const file made(content);
  outcome result;
  try {
    adaptyst::lib::elf_markers found = find_elf_markers(made.name());
    result.probes = std::move(found.probes);
    result.error = std::move(found.no_probes_because);
    result.control_block = found.control_block;
    CHECK((result.error.empty() || (result.probes.empty() && result.error.find(made.name()) != std::string::npos)));
  } catch (const adaptyst::lib::error& failed) {
    result.error = failed.summary();
    CHECK(result.error.find(made.name()) != std::string::npos);
    CHECK(failed.subject() == made.name());
    CHECK_FALSE(failed.hint().empty());
  }
  return result;
}

template <class T>
T take(const std::string& from, std::uint64_t offset) {
  T value;
  REQUIRE(offset + sizeof value <= from.size());
  std::memcpy(&value, from.data() + offset, sizeof value);
  return value;
}

template <class T>
void put(std::string& bytes, std::uint64_t offset, const T& value) {
  REQUIRE(offset + sizeof value <= bytes.size());
  std::memcpy(bytes.data() + offset, &value, sizeof value);
}

struct range {
  std::uint64_t offset, size;
};

// Where the section with this name stands in the table of sections.
std::uint64_t find_header(const std::string& in, const char* name) {
  const auto elf = take<Elf64_Ehdr>(in, 0);
  const auto names = take<Elf64_Shdr>(in, elf.e_shoff + elf.e_shstrndx * sizeof(Elf64_Shdr));
  for (unsigned at = 0; at != elf.e_shnum; ++at) {
    const std::uint64_t place = elf.e_shoff + at * sizeof(Elf64_Shdr);
    if (std::strcmp(in.data() + names.sh_offset + take<Elf64_Shdr>(in, place).sh_name, name) == 0) return place;
  }
  FAIL("no section " << name);
  return 0;
}

range section(const std::string& in, const char* name) {
  const auto header = take<Elf64_Shdr>(in, find_header(in, name));
  return {header.sh_offset, header.sh_size};
}

// All that the reader looks at.
std::vector<range> read_places(const std::string& in) {
  const auto elf = take<Elf64_Ehdr>(in, 0);
  return {{0, sizeof elf},
          {elf.e_phoff, std::uint64_t{elf.e_phnum} * sizeof(Elf64_Phdr)},
          {elf.e_shoff, std::uint64_t{elf.e_shnum} * sizeof(Elf64_Shdr)},
          section(in, ".note.stapsdt"),
          section(in, ".note.adaptyst"),
          section(in, ".shstrtab")};
}

}  // namespace

TEST_CASE("the file that is damaged below is whole") {
  const outcome whole = read(original());
  REQUIRE(whole.error.empty());
  REQUIRE(whole.probes.size() == 7);
  for (const elf_probe& probe : whole.probes) {
    CHECK(probe.offset != 0);
    CHECK((probe.semaphore_offset != 0) == (probe.name != "thread"));
  }
}

TEST_CASE("what is no ELF file is said to be none") {
  for (const std::string& content :
       {std::string(), std::string("\x7f"),
        std::string("\x7f"
                    "ELF"),
        std::string("#!/bin/sh\n"), std::string(100000, '\0'), std::string(64, '\xff'), std::string("!<arch>\n"),
        "\x7f"
        "ELF" +
            std::string(60, '\xff')})
    CHECK_FALSE(read(content).error.empty());
}

TEST_CASE("what cannot be opened is reported with the system's reason") {
  for (const char* const name : {"/nonexistent/file", "/proc/self/mem/x", ""}) {
    std::string message;
    try {
      find_elf_markers(name);
    } catch (const adaptyst::lib::error& failed) {
      message = failed.what();
      CHECK(failed.number() != 0);
    }
    CHECK(message.find("cannot open ") == 0);
  }
  CHECK_THROWS_AS(find_elf_markers("/"), adaptyst::lib::error);
  CHECK_THROWS_AS(find_elf_markers("/dev/null"), adaptyst::lib::error);
}

TEST_CASE("an ELF file for other machines is said to be that") {
  std::string content = original();
  content[EI_CLASS] = ELFCLASS32;
  CHECK_FALSE(read(content).error.empty());
}

TEST_CASE("a file without notes of probes has markers all the same, and is said to have no probes") {
  const std::uint64_t control_block = read(original()).control_block;
  REQUIRE(control_block != 0);
  std::string content = original();
  SECTION("no such section") {
    put(content, find_header(content, ".note.stapsdt") + offsetof(Elf64_Shdr, sh_name), std::uint32_t{0});
  }
  SECTION("no section headers") {
    put(content, offsetof(Elf64_Ehdr, e_shoff), std::uint64_t{0});
    put(content, offsetof(Elf64_Ehdr, e_shnum), std::uint16_t{0});
    put(content, offsetof(Elf64_Ehdr, e_shstrndx), std::uint16_t{0});
  }
  SECTION("section headers that were cut off") { put(content, offsetof(Elf64_Ehdr, e_shoff), std::uint64_t{1} << 40); }
  SECTION("no names of sections") { put(content, offsetof(Elf64_Ehdr, e_shstrndx), std::uint16_t{0}); }
  const outcome none = read(content);
  CHECK_FALSE(none.error.empty());
  CHECK(none.probes.empty());
  CHECK(none.control_block == control_block);
}

TEST_CASE("our note is found however linkers join and pad notes") {
  const std::uint64_t control_block = read(original()).control_block;
  const auto elf = take<Elf64_Ehdr>(original(), 0);
  for (const std::uint64_t alignment : {4U, 8U}) {
    for (const std::uint64_t before : {0U, 4U, 8U, 12U}) {  // of other bytes in the segment
      std::string content = original();
      const range notes = section(content, ".note.adaptyst");
      for (unsigned at = 0; at != elf.e_phnum; ++at) {
        const std::uint64_t place = elf.e_phoff + at * sizeof(Elf64_Phdr);
        auto head = take<Elf64_Phdr>(content, place);
        if (head.p_type != PT_NOTE) continue;
        head.p_vaddr += notes.offset - before - head.p_offset;
        head.p_offset = notes.offset - before;
        head.p_filesz = head.p_memsz = notes.size + before;
        head.p_align = alignment;
        put(content, place, head);
      }
      CHECK(read(content).control_block == control_block);
    }
  }
}

TEST_CASE("probes of other providers are left alone") {
  std::string content = original();
  const range notes = section(content, ".note.stapsdt");
  for (std::size_t at = notes.offset; (at = content.find("adaptyst", at)) < notes.offset + notes.size; ++at)
    content[at] = 'x';
  const outcome none = read(content);
  CHECK(none.error.find("no probe notes") != std::string::npos);
  CHECK(none.probes.empty());
}

TEST_CASE("notes whose texts, addresses or lengths are wrong are refused") {
  const range notes = section(original(), ".note.stapsdt");
  SECTION("no NUL at the end") {
    std::string content = original();
    const auto head = take<Elf64_Nhdr>(content, notes.offset);
    const std::uint64_t body = notes.offset + sizeof head + 8;
    for (std::uint64_t at = body + 24; at != body + head.n_descsz; ++at)
      if (content[at] == '\0') content[at] = 'x';
    CHECK_FALSE(read(content).error.empty());
  }
  SECTION("an address that no segment holds") {
    for (const std::uint64_t address : {std::uint64_t{0}, std::uint64_t{1} << 40, ~std::uint64_t{0}}) {
      std::string content = original();
      put(content, notes.offset + sizeof(Elf64_Nhdr) + 8, address == 0 ? ~std::uint64_t{0} - 5 : address);
      CHECK_FALSE(read(content).error.empty());
    }
  }
  SECTION("too short") {
    std::string content = original();
    auto head = take<Elf64_Nhdr>(content, notes.offset);
    head.n_descsz = 16;
    put(content, notes.offset, head);
    CHECK_FALSE(read(content).error.empty());
  }
  SECTION("longer than the section") {
    for (const std::uint32_t length : {0x7fffffffU, 0xffffffffU, 0xfffffff0U}) {
      std::string content = original();
      auto head = take<Elf64_Nhdr>(content, notes.offset);
      head.n_descsz = length;
      put(content, notes.offset, head);
      const outcome read_all = read(content);
      CHECK((!read_all.error.empty() || read_all.probes.empty()));
    }
  }
}

TEST_CASE("a file that ends anywhere is an error or has fewer probes") {
  const std::string& whole = original();
  std::mt19937 random(1);
  for (int round = 0; round != 300; ++round) {
    const std::size_t length = round < 100 ? static_cast<std::size_t>(round) : random() % whole.size();
    CAPTURE(length);
    const outcome cut = read(whole.substr(0, length));
    CHECK((!cut.error.empty() || cut.probes.size() < 5));
  }
}

TEST_CASE("random damage where the reader looks does no harm") {
  const std::vector<range> places = read_places(original());
  std::mt19937_64 random(2);
  unsigned errors = 0;
  for (int round = 0; round != 1200; ++round) {
    std::string content = original();
    for (std::uint64_t changes = 1 + random() % 4; changes != 0; --changes) {
      const range& place = places[random() % places.size()];
      const std::uint64_t at = place.offset + random() % place.size;
      switch (random() % 4) {
        case 0: content[at] = static_cast<char>(random()); break;
        case 1: content[at] = static_cast<char>(content[at] ^ (1 << random() % 8)); break;
        case 2:
          std::fill_n(content.begin() + static_cast<std::ptrdiff_t>(at), std::min<std::size_t>(8, content.size() - at),
                      random() % 2 == 0 ? '\xff' : '\0');
          break;
        default: {  // a whole field, by its size
          const std::uint64_t aligned = at & ~std::uint64_t{7};
          if (aligned + 8 <= content.size()) put(content, aligned, std::uint64_t{1} << random() % 64);
        }
      }
    }
    const outcome damaged = read(content);
    CHECK(damaged.probes.size() <= 7);
    errors += damaged.error.empty() ? 0 : 1;
  }
  CHECK(errors > 100);   // damage was done,
  CHECK(errors < 1200);  // and not always to the first bytes
}

TEST_CASE("random bytes behind a right beginning do no harm") {
  std::mt19937_64 random(3);
  for (int round = 0; round != 200; ++round) {
    std::string content = original().substr(0, sizeof(Elf64_Ehdr));
    while (content.size() != 4096) content += static_cast<char>(random());
    auto elf = take<Elf64_Ehdr>(content, 0);
    elf.e_shoff = 64 + 8 * (random() % 400);
    elf.e_phoff = 64 + 8 * (random() % 400);
    elf.e_shnum = static_cast<std::uint16_t>(random() % 20);
    elf.e_phnum = static_cast<std::uint16_t>(random() % 20);
    elf.e_shstrndx = static_cast<std::uint16_t>(random() % 20);
    put(content, 0, elf);
    read(content);
  }
}

TEST_CASE("a file that claims millions of sections takes none of our memory") {
  auto head = take<Elf64_Ehdr>(original(), 0);
  head.e_shoff = sizeof head;
  head.e_shnum = 0;  // then it stands in the first section
  head.e_shstrndx = 0;
  Elf64_Shdr first{};
  first.sh_size = std::uint64_t{1} << 24;
  std::string content(sizeof head + sizeof first, '\0');
  put(content, 0, head);
  put(content, sizeof head, first);
  const file sparse(content);
  REQUIRE(truncate(sparse.name().c_str(), static_cast<off_t>(sizeof head + first.sh_size * sizeof first)) == 0);
  rusage before{}, after{};
  getrusage(RUSAGE_SELF, &before);
  CHECK_THROWS_AS(find_elf_markers(sparse.name()), adaptyst::lib::error);
  getrusage(RUSAGE_SELF, &after);
  CHECK(after.ru_maxrss - before.ru_maxrss < 64 * 1024);
  // As many as there may be are no harm.
  first.sh_size = 65536;
  put(content, sizeof head, first);
  CHECK(read(content).error.find("not an ELF file") == std::string::npos);
}

TEST_CASE("neither a pipe nor a device is opened") {
  const file pipe("");
  REQUIRE(unlink(pipe.name().c_str()) == 0);
  REQUIRE(mkfifo(pipe.name().c_str(), 0600) == 0);
  alarm(20);  // opened, it would wait for a writer for ever
  for (const std::string& name : {pipe.name(), std::string("/dev/null"), std::string("/")}) {
    std::string message, hint;
    try {
      find_elf_markers(name);
    } catch (const adaptyst::lib::error& failed) {
      message = failed.summary();
      hint = failed.hint();
    }
    CHECK(message == "cannot open " + name + " to find its probes: not a regular file");
    CHECK_FALSE(hint.empty());
  }
  alarm(0);
}

TEST_CASE("a file may be shortened while it is read") {
  const file changing(original());
  std::atomic<bool> done{false};
  std::thread writer([&] {
    while (!done) {
      std::ofstream(changing.name(), std::ios::binary | std::ios::trunc) << original();
      std::this_thread::yield();
    }
  });
  unsigned whole = 0;
  for (int round = 0; round != 3000; ++round) {
    try {
      whole += find_elf_markers(changing.name()).probes.size() == 7 ? 1 : 0;
    } catch (const adaptyst::lib::error&) {}
  }
  done = true;
  writer.join();
  CHECK(whole != 0);
}

TEST_CASE("a file that is loaded very often is found as often as a loader can") {
  const file loaded(original());
  const adaptyst::lib::elf_markers markers = find_elf_markers(loaded.name());
  const std::uint64_t block = markers.control_block - markers.first_address;
  const int descriptor = open(loaded.name().c_str(), O_RDONLY | O_CLOEXEC);
  REQUIRE(descriptor >= 0);
  const std::uint64_t page = 4096;
  for (int time = 0; time != 20; ++time) {
    // As much of a loader's work as the list of mappings shows.
    auto* const base =
        static_cast<char*>(mmap(nullptr, block + 2 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    REQUIRE(base != MAP_FAILED);
    REQUIRE(mmap(base, page, PROT_READ, MAP_PRIVATE | MAP_FIXED, descriptor, 0) == base);
    char* const data = base + block / page * page;
    REQUIRE(mmap(data, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_FIXED, descriptor, page) == data);
  }
  close(descriptor);
  std::size_t found = 0;
  for (const adaptyst::lib::process_object& object : adaptyst::lib::find_objects(getpid()))
    if (object.file.find(loaded.name()) != std::string::npos) {
      CHECK(object.markers->probes.size() == 7);
      ++found;
    }
  CHECK(found == 16);
}
