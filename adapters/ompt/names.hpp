// Names of constructs: the kind, and its place in the program.
#ifndef ADAPTYST_ADAPTERS_OMPT_NAMES_HPP
#define ADAPTYST_ADAPTERS_OMPT_NAMES_HPP

#include <cstdint>
#include <string_view>

namespace adaptyst::ompt {

enum class construct : std::uint32_t { parallel, teams, loop, sections, target, enter_data, exit_data, update, kernel };

// "loop @solver+0x1234", as in <adaptyst/adapter/code_name.hpp>. Each name is made once; any thread may call. Only
// "loop" without an address, or beyond 1,000 constructs.
std::string_view find_name(construct what, const void* code) noexcept;

}  // namespace adaptyst::ompt

#endif
