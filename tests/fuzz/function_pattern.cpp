// A request for functions as a user writes it, and a name to hold against it, after a NUL.
#include <string>
#include <string_view>

#include "discover/function_request.hpp"
#include "support/error.hpp"
#include "target.hpp"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace adaptyst::lib;
  const std::string_view all(reinterpret_cast<const char*>(data), size);
  const std::size_t end = std::min(all.find('\0'), size);
  const std::string_view name = all.substr(std::min(end + 1, size));
  try {
    const function_request request = parse_function(all.substr(0, end));
    EXPECT(request.file + ":" + request.glob == all.substr(0, end));
    EXPECT(matches(request.glob, request.glob));
    EXPECT(!matches(request.glob, name) || matches(request.glob + "*", std::string(name) + "x"));
    EXPECT(is_cxx(request.glob) || request.glob.find('(') == std::string::npos);
    is_for(request, std::string(name.substr(0, name.find('\0'))));
  } catch (const error&) {}
  return 0;
}
