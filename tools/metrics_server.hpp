// Answers Prometheus over HTTP, in the loop of the observer.
//
// Clients are hostile. A request, the number of clients and the time of each are limited. No call waits for a client.
#ifndef ADAPTYST_TOOLS_METRICS_SERVER_HPP
#define ADAPTYST_TOOLS_METRICS_SERVER_HPP

#include <functional>
#include <memory>
#include <string>

#include "report/foreign_forms.hpp"

namespace adaptyst::tools {

// The error in an address and its remedy; empty: the address is valid. PORT, 127.0.0.1:PORT or [::1]:PORT.
std::string complaint_on_address(const std::string& address);

class metrics_server {
 public:
  // `make`: makes the answer; it is called for each request, inside answer(). Throws error.
  metrics_server(const std::string& address, std::function<std::string(lib::metrics_syntax)> make);
  ~metrics_server();
  metrics_server(const metrics_server&) = delete;
  metrics_server& operator=(const metrics_server&) = delete;

  // "http://127.0.0.1:9464/metrics"
  std::string url() const;
  // Becomes readable when a client has done something.
  int descriptor() const;
  // Answers clients, without waiting. Call it ten times a second or more, since it also ends slow clients.
  void answer();

 private:
  struct state;
  std::unique_ptr<state> state_;
};

}  // namespace adaptyst::tools

#endif
