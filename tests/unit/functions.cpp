// Naming functions, and reading files that are damaged: an error of ours, or what is left, but nothing worse. Worth most
// under AddressSanitizer. What compilers make is the concern of check_functions.py.
#include <elf.h>
#include <unistd.h>

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
#include "discover/function_sets.hpp"
#include "error.hpp"

namespace {

using namespace adaptyst::lib;

std::string content_of(const char* file) {
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
    for (const function_place& one : found)
      if (one.refused.empty()) {
        CHECK(one.offset < content.size());
        CHECK(one.past_entry <= 9);
      }
    CHECK_FALSE(explain_no_function(made.name(), "no such").empty());
    return static_cast<int>(found.size());
  } catch (const error& failed) {
    CHECK(std::string(failed.what()).find(made.name()) != std::string::npos);
    CHECK(std::string(failed.what()).find("\nhint: ") != std::string::npos);
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
    std::string message;
    try {
      parse_function(wrong);
    } catch (const error& failed) {
      message = failed.what();
    }
    CHECK(message.find("'" + std::string(wrong) + "'") != std::string::npos);
    CHECK(message.find("\nhint: ") != std::string::npos);
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
    for (const function_request& one : functions_of_set(name)) {
      CHECK(seen.insert(one.file + ":" + one.glob).second);
      const function_request again = parse_function(one.file + ":" + one.glob);
      CHECK(again.file == one.file);
      CHECK(again.glob == one.glob);
    }
    CHECK_FALSE(seen.empty());
  }
  std::string message;
  try {
    functions_of_set("mpl");
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
    for (const function_request& one : functions_of_set(set))
      if (is_for(one, libc))
        for (const function_place& place : find_functions(libc, one.glob)) found.insert(place.symbol);
    CHECK(found.count(std::strcmp(set, "io") == 0 ? "fopen" : "malloc") == 1);
  }
}

TEST_CASE("what cannot be read is told with the system's reason") {
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
  std::string content = content_of(ADAPTYST_TEST_LIBRARY);
  content[18] = 3;  // e_machine: EM_386
  CHECK(search(content) == -1);
}

TEST_CASE("a file that ends early, anywhere, does no harm") {
  const std::string whole = content_of(ADAPTYST_TEST_LIBRARY);
  REQUIRE(search(whole) >= 2);
  for (std::size_t length = 0; length < whole.size(); length += length < 1024 ? 8 : 97) search(whole.substr(0, length));
}

TEST_CASE("flipped bytes do no harm") {
  const std::string whole = content_of(ADAPTYST_TEST_LIBRARY);
  Elf64_Ehdr head;
  REQUIRE(whole.size() > sizeof head);
  std::memcpy(&head, whole.data(), sizeof head);
  std::mt19937 random(7);
  const auto flip = [&](std::string& content, std::size_t from, std::size_t bytes) {
    content[from + random() % bytes] = static_cast<char>(random());
  };
  for (int round = 0; round != 1500; ++round) {
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
