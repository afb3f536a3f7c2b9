// Names of C++ functions without arguments and tags.
#ifndef ADAPTYST_LIB_SUPPORT_FUNCTION_NAME_HPP
#define ADAPTYST_LIB_SUPPORT_FUNCTION_NAME_HPP

#include <string>
#include <string_view>

namespace adaptyst::lib {

// "grid::solve" of "void grid::solve<double>(double, int) const"; with the suffix of a clone.
std::string without_arguments(std::string_view function);
// "grid::name(int)" of "grid::name[abi:cxx11](int)".
std::string without_abi_tags(std::string_view function);

}  // namespace adaptyst::lib

#endif
