// Without libmicrohttpd, no address is valid.
#include "metrics_server.hpp"

#include "support/error.hpp"

namespace adaptyst::tools {

struct metrics_server::state {};

std::string complaint_on_address(const std::string&) {
  return "--listen is not in this build\nbuild with libmicrohttpd (Debian: libmicrohttpd-dev), or use -o FILE.prom";
}

metrics_server::metrics_server(const std::string& address, std::function<std::string(lib::metrics_syntax)>) {
  throw error("cannot listen: " + complaint_on_address(address), 0, "");
}
metrics_server::~metrics_server() = default;
std::string metrics_server::url() const { return {}; }
int metrics_server::descriptor() const { return -1; }
void metrics_server::answer() {}

}  // namespace adaptyst::tools
