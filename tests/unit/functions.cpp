// Naming functions, and reading files that are damaged: an error of ours, or what is left, but nothing worse. Worth
// most under AddressSanitizer. What compilers make is the concern of check_functions.py.
#include <elf.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <cstring>
#include <fstream>
#include <iterator>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "catch.hpp"
#include "discover/elf_functions.hpp"
#include "discover/function_request.hpp"
#include "sanitized.hpp"
#include "support/error.hpp"
#include "support/function_name.hpp"

namespace {

using namespace adaptyst::lib;

std::string read_content(const char* file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

class damaged_file {
 public:
  explicit damaged_file(const std::string& content) {
    const char* const temporary = std::getenv("TMPDIR");
    name_ = std::string(temporary != nullptr ? temporary : "/tmp") + "/adaptyst-functions-XXXXXX";
    const int descriptor = mkstemp(name_.data());
    REQUIRE(descriptor >= 0);
    REQUIRE(write(descriptor, content.data(), content.size()) == static_cast<ssize_t>(content.size()));
    close(descriptor);
  }
  ~damaged_file() { unlink(name_.c_str()); }
  damaged_file(const damaged_file&) = delete;
  damaged_file& operator=(const damaged_file&) = delete;
  const std::string& name() const { return name_; }

 private:
  std::string name_;
};

// How many functions are found in it, or −1: a proper error.
int search(const std::string& content) {
  const damaged_file made(content);
  try {
    const auto found = find_functions(made.name(), "*", clones::with_their_function);
    for (const function_place& place : found)
      if (place.refused.empty()) {
        CHECK(place.offset < content.size());
        CHECK(place.past_entry <= 9);
      }
    CHECK_FALSE(explain_no_function(made.name(), "no such").summary().empty());
    return static_cast<int>(found.size());
  } catch (const error& failed) {
    CHECK(failed.summary().find(made.name()) != std::string::npos);
    CHECK_FALSE(failed.hint().empty());
    return -1;
  }
}

entry_instruction at(std::initializer_list<unsigned char> code) {
  return find_entry_instruction(code.begin(), code.size());
}

}  // namespace

TEST_CASE("a request is a file and a pattern") {
  const function_request mpi = parse_function("libmpi.so:MPI_*");
  CHECK(mpi.file == "libmpi.so");
  CHECK(mpi.glob == "MPI_*");
  const function_request flux = parse_function("./solver:flow::compute_flux[abi:cxx11](*)");
  CHECK(flux.file == "./solver");
  CHECK(flux.glob == "flow::compute_flux[abi:cxx11](*)");
  for (const char* const wrong : {"", ":", "MPI_Send", ":MPI_Send", "libmpi.so:", "solver::compute_flux"}) {
    std::string message, hint;
    try {
      parse_function(wrong);
    } catch (const error& failed) {
      message = failed.summary();
      hint = failed.hint();
      CHECK(failed.subject() == wrong);
    }
    CHECK(message.find("'" + std::string(wrong) + "'") != std::string::npos);
    CHECK_FALSE(hint.empty());
  }
  CHECK_THROWS_AS(parse_function(std::string_view("a:b\0c", 5)), error);
}

TEST_CASE("a library is known by its name without versions, a path by the file that it leads to") {
  const auto fits = [](const char* file, const char* loaded) { return is_for({file, "*"}, loaded); };
  CHECK(fits("libmpi.so", "/usr/lib/libmpi.so"));
  CHECK(fits("libmpi.so", "/usr/lib/libmpi.so.40.30.4"));
  CHECK(fits("libmpi", "/usr/lib/libmpi.so.40"));
  CHECK(fits("solver", "/home/me/solver"));
  CHECK(fits("libopenblasp*.so", "/usr/lib/libopenblasp-r0.3.21.so"));
  CHECK_FALSE(fits("libmpi.so", "/usr/lib/libmpi_cxx.so.40"));
  CHECK_FALSE(fits("libmpi.so", "/usr/libmpi.so/libother.so"));
  CHECK_FALSE(fits("libm", "/usr/lib/libmpi.so"));
  CHECK(fits("/proc/self/../self/exe", "/proc/self/exe"));
  CHECK_FALSE(fits("/proc/self/exe", ADAPTYST_TEST_LIBRARY));
  CHECK(fits("/no/such", "/no/such"));
  CHECK_FALSE(fits("./exe", "/no/such/exe"));
}

TEST_CASE("a star is any text, a question mark one character, a bracket itself") {
  CHECK(matches("MPI_*", "MPI_Send"));
  CHECK(matches("*", ""));
  CHECK(matches("**", "a"));
  CHECK(matches("?gemm_", "dgemm_"));
  CHECK(matches("a*b*c", "a-b-b-c"));
  CHECK(matches("f[abi:cxx11](*)", "f[abi:cxx11](int)"));
  CHECK(matches("grid::operator*=(int)", "grid::operator*=(int)"));
  CHECK_FALSE(matches("MPI_*", "PMPI_Send"));
  CHECK_FALSE(matches("?gemm_", "gemm_"));
  CHECK_FALSE(matches("[ab]", "a"));
  CHECK_FALSE(matches("", "a"));
  CHECK_FALSE(matches("a*b", "abc"));
  // In a time that does not explode.
  std::string stars;
  for (int i = 0; i != 200; ++i) stars += "*a";
  CHECK_FALSE(matches(stars + "b", std::string(2000, 'a')));
}

TEST_CASE("a C++ name is known without its arguments, and without its ABI tags") {
  using adaptyst::lib::without_abi_tags, adaptyst::lib::without_arguments;
  CHECK(without_arguments("flow::tagged[abi:cxx11](int)") == "flow::tagged[abi:cxx11]");
  CHECK(without_abi_tags("flow::tagged[abi:cxx11](int)") == "flow::tagged(int)");
  CHECK(without_abi_tags("a[abi:x]::b[abi:cxx11][abi:y]") == "a::b");
  CHECK(without_abi_tags("grid::operator[](int) const") == "grid::operator[](int) const");
  CHECK(without_abi_tags("cut[abi:") == "cut");
  CHECK(without_abi_tags("").empty());
}

TEST_CASE("the probe goes behind endbr64, and only to what is known to begin there") {
  CHECK(at({0x90}).kind == entry_kind::nop1);
  CHECK(at({0x55, 0x48}).kind == entry_kind::push);
  CHECK(at({0x41, 0x57}).kind == entry_kind::push);
  CHECK(at({0x41, 0x8b}).kind == entry_kind::single_stepped);
  CHECK(at({0x41}).kind == entry_kind::single_stepped);
  CHECK(at({0x48, 0x55}).kind == entry_kind::single_stepped);
  CHECK(at({0x0f, 0x1f, 0x44, 0x00}).kind == entry_kind::single_stepped);
  CHECK(at({0x0f, 0x84, 0, 0, 0, 0}).kind == entry_kind::emulated);
  CHECK(at({}).kind == entry_kind::single_stepped);
  const entry_instruction pushed = at({0xf3, 0x0f, 0x1e, 0xfa, 0x53});
  CHECK(pushed.kind == entry_kind::push);
  CHECK(pushed.past_entry == 4);
  const entry_instruction two = at({0xf3, 0x0f, 0x1e, 0xfa, 0xf3, 0x0f, 0x1e, 0xfa, 0x53});
  CHECK(two.kind == entry_kind::single_stepped);
  CHECK(two.past_entry == 0);
  CHECK(at({0xf3, 0x0f, 0x1e, 0xfb, 0x53}).past_entry == 0);  // endbr32
  CHECK(at({0xf3, 0x0f, 0x1e, 0xfa}).past_entry == 0);
}

TEST_CASE("a 5-byte nop is no place for a probe") {
  const entry_instruction pushed = at({0x0f, 0x1f, 0x44, 0x00, 0x00, 0x55});
  CHECK(pushed.kind == entry_kind::push);
  CHECK(pushed.past_entry == 5);
  const entry_instruction protected_too = at({0xf3, 0x0f, 0x1e, 0xfa, 0x0f, 0x1f, 0x44, 0x00, 0x00, 0xe9, 0, 0, 0, 0});
  CHECK(protected_too.kind == entry_kind::emulated);
  CHECK(protected_too.past_entry == 9);
  const entry_instruction stepped = at({0x0f, 0x1f, 0x44, 0x00, 0x00, 0xc3});
  CHECK(stepped.kind == entry_kind::single_stepped);
  CHECK(stepped.past_entry == 5);
}

TEST_CASE("every set is known, and an unknown one names them") {
  for (const char* const name : {"mpi", "opencl", "cuda", "hip", "openmp", "blas", "io", "malloc"}) {
    std::set<std::string> seen;
    for (const function_request& request : find_set(name)) {
      CHECK(seen.insert(request.file + ":" + request.glob).second);
      const function_request again = parse_function(request.file + ":" + request.glob);
      CHECK(again.file == request.file);
      CHECK(again.glob == request.glob);
    }
    CHECK_FALSE(seen.empty());
  }
  std::string message;
  try {
    find_set("mpl");
  } catch (const error& failed) {
    message = failed.what();
  }
  CHECK(message.find("'mpl'") != std::string::npos);
  CHECK(message.find("mpi, opencl, cuda, hip, openmp, blas, io, malloc") != std::string::npos);
}

TEST_CASE("the C library of this machine has the sets that it should have") {
  std::string libc;
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);)
    if (is_for({"libc.so", "*"}, line.substr(line.find('/') == std::string::npos ? line.size() : line.find('/'))))
      libc = line.substr(line.find('/'));
  if (libc.empty()) return;  // linked statically, or under another name
  for (const char* const set : {"io", "malloc"}) {
    std::set<std::string> found;
    for (const function_request& request : find_set(set))
      if (is_for(request, libc))
        for (const function_place& place : find_functions(libc, request.glob)) found.insert(place.symbol);
    CHECK(found.count(std::strcmp(set, "io") == 0 ? "fopen" : "malloc") == 1);
  }
}

TEST_CASE("what cannot be read is reported with the system's reason") {
  for (const char* const name : {"/nonexistent/file", ""}) {
    std::string message;
    try {
      find_functions(name, "*");
    } catch (const error& failed) {
      message = failed.what();
      CHECK(failed.number() != 0);
    }
    CHECK(message.find("cannot open ") == 0);
  }
  CHECK_THROWS_AS(find_functions("/", "*"), error);
  CHECK_THROWS_AS(find_functions("/dev/null", "*"), error);
  std::string content = read_content(ADAPTYST_TEST_LIBRARY);
  content[18] = 3;  // e_machine: EM_386
  CHECK(search(content) == -1);
}

TEST_CASE("a file that ends early, anywhere, does no harm") {
  const std::string whole = read_content(ADAPTYST_TEST_LIBRARY);
  REQUIRE(search(whole) >= 2);
  for (std::size_t length = 0; length < whole.size(); length += length < 1024 ? 8 : 97) search(whole.substr(0, length));
}

TEST_CASE("flipped bytes do no harm") {
  const std::string whole = read_content(ADAPTYST_TEST_LIBRARY);
  Elf64_Ehdr head;
  REQUIRE(whole.size() > sizeof head);
  std::memcpy(&head, whole.data(), sizeof head);
  std::mt19937 random(7);
  const auto flip = [&](std::string& content, std::size_t from, std::size_t bytes) {
    content[from + random() % bytes] = static_cast<char>(random());
  };
  for (int round = 0; round != random_rounds(1500); ++round) {
    std::string content = whole;
    const std::size_t headers = std::size_t{head.e_shnum} * sizeof(Elf64_Shdr);
    for (unsigned times = 1 + random() % 4; times != 0; --times) switch (random() % 4) {
        case 0: flip(content, 0, 4096); break;  // headers, dynamic symbols, versions
        case 1: flip(content, head.e_shoff, headers); break;
        case 2: flip(content, head.e_phoff, std::size_t{head.e_phnum} * sizeof(Elf64_Phdr)); break;
        default: flip(content, 0, content.size());
      }
    search(content);
  }
}

namespace {

// The library, with another content of its sections of some types.
class remade_library {
 public:
  remade_library() : content_(read_content(ADAPTYST_TEST_LIBRARY)) {
    std::memcpy(&head_, content_.data(), sizeof head_);
  }

  template <class T>
  void replace(unsigned type, const std::vector<T>& with) {
    put(place(type), {reinterpret_cast<const char*>(with.data()), with.size() * sizeof(T)});
  }
  // The texts that it refers to.
  void replace_texts(unsigned type, const std::string& with) {
    const std::size_t at = place(type);
    put(head_.e_shoff + header(at).sh_link * sizeof(Elf64_Shdr), with);
  }
  const std::string& content() const { return content_; }

 private:
  Elf64_Shdr header(std::size_t at) const {
    Elf64_Shdr section;
    std::memcpy(&section, content_.data() + at, sizeof section);
    return section;
  }
  std::size_t place(unsigned type) const {
    for (std::size_t number = 0; number != head_.e_shnum; ++number)
      if (const std::size_t at = head_.e_shoff + number * sizeof(Elf64_Shdr); header(at).sh_type == type) return at;
    FAIL("no section of type " << type);
    return 0;
  }
  void put(std::size_t at, std::string_view bytes) {
    content_.resize((content_.size() + 15) / 16 * 16);
    Elf64_Shdr section = header(at);
    section.sh_offset = content_.size();
    section.sh_size = bytes.size();
    std::memcpy(content_.data() + at, &section, sizeof section);
    content_ += bytes;
  }

  std::string content_;
  Elf64_Ehdr head_;
};

Elf64_Sym make_symbol(unsigned char type, std::size_t name) {
  return {static_cast<Elf64_Word>(name), static_cast<unsigned char>(ELF64_ST_INFO(STB_GLOBAL, type)), 0, 1, 0, 0};
}

// Far from what honest work takes, and from what it would without a bound.
class time_limit {
 public:
  ~time_limit() { CHECK(std::chrono::steady_clock::now() - started_ < std::chrono::seconds(20)); }

 private:
  std::chrono::steady_clock::time_point started_ = std::chrono::steady_clock::now();
};

}  // namespace

TEST_CASE("a small file whose symbols share a long name is refused before it fills the memory") {
  remade_library made;
  made.replace_texts(SHT_SYMTAB, std::string(1 << 20, 'a') + std::string(1, '\0'));
  made.replace(SHT_SYMTAB, std::vector<Elf64_Sym>(1000, make_symbol(STT_FUNC, 0)));
  CHECK(search(made.content()) == -1);
}

TEST_CASE("versions that all lead to the same list are read in time") {
  constexpr unsigned lists = 100'000;
  constexpr unsigned entries = 100'000;
  std::vector<Elf64_Verneed> all(lists + entries);
  static_assert(sizeof(Elf64_Verneed) == sizeof(Elf64_Vernaux));
  for (unsigned at = 0; at != lists; ++at)
    all[at] = {1, 1, 0, (lists - at) * static_cast<Elf64_Word>(sizeof all[0]), sizeof all[0]};
  const Elf64_Vernaux entry{0, 0, 2, 0, sizeof entry};
  for (unsigned at = lists; at != all.size(); ++at) std::memcpy(&all[at], &entry, sizeof entry);
  remade_library made;
  made.replace(SHT_GNU_verdef, all);
  std::string content = made.content();
  // The library defines versions, and needs none.
  Elf64_Ehdr head;
  std::memcpy(&head, content.data(), sizeof head);
  for (unsigned number = 0; number != head.e_shnum; ++number) {
    Elf64_Shdr section;
    std::memcpy(&section, content.data() + head.e_shoff + number * sizeof section, sizeof section);
    if (section.sh_type == SHT_GNU_verdef) section.sh_type = SHT_GNU_verneed;
    std::memcpy(content.data() + head.e_shoff + number * sizeof section, &section, sizeof section);
  }
  const time_limit limit;
  CHECK(search(content) >= 2);
}

TEST_CASE("many indirect functions are explained in time") {
  constexpr unsigned many = 60'000;
  std::string names(1, '\0');
  std::vector<Elf64_Sym> symbols(1);
  for (unsigned at = 0; at != many; ++at) {
    symbols.push_back(make_symbol(STT_GNU_IFUNC, names.size()));
    names += "f" + std::to_string(at) + '\0';
    symbols.push_back(make_symbol(STT_FUNC, names.size()));
    names += "__f" + std::to_string(at) + "_fast" + '\0';
  }
  remade_library made;
  made.replace_texts(SHT_SYMTAB, names);
  made.replace(SHT_SYMTAB, symbols);
  const damaged_file file(made.content());
  const time_limit limit;
  const std::vector<function_place> found = find_functions(file.name(), "f1?");
  REQUIRE(found.size() == 10);
  CHECK(found[0].refused.find("such as __f10_fast") != std::string::npos);
  CHECK(find_functions(file.name(), "f*").size() == many);
}

TEST_CASE("a pipe is not opened") {
  const damaged_file pipe("");
  REQUIRE(unlink(pipe.name().c_str()) == 0);
  REQUIRE(mkfifo(pipe.name().c_str(), 0600) == 0);
  alarm(20);  // opened, it would wait for a writer for ever
  CHECK_THROWS_AS(find_functions(pipe.name(), "*"), error);
  alarm(0);
}
