#include "file_symbols.hpp"

namespace adaptyst::lib {

struct file_symbols::state {};

file_symbols::file_symbols(int) {}
file_symbols::~file_symbols() = default;
std::string file_symbols::function_at(std::uint64_t) const { return {}; }
std::uint64_t file_symbols::begin_of_function(std::uint64_t offset) const { return offset; }
bool file_symbols::is_stripped() const { return false; }
code_place file_symbols::place_at(std::uint64_t) const { return {}; }
bool file_symbols::are_read() noexcept { return false; }

}  // namespace adaptyst::lib
