#include <arpa/inet.h>
#include <dlfcn.h>
#include <fmt/format.h>
#include <microhttpd.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstring>
#include <exception>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "metrics_server.hpp"
#include "support/descriptor.hpp"
#include "support/error.hpp"

namespace adaptyst::tools {

namespace {

using clock = std::chrono::steady_clock;

constexpr const char* library_name = "libmicrohttpd.so.12";  // of all versions since 0.9.35
constexpr unsigned max_clients = 8;
constexpr std::size_t max_client_bytes = 16384;  // for a request and its headers
constexpr unsigned max_idle_s = 2;
constexpr std::chrono::seconds max_client_time(10);  // a client may send a byte a second, and so never be idle

struct endpoint {
  sockaddr_storage address{};
  socklen_t size = 0;
  bool is_loopback = false;
};

// An address without a host is of the loopback interface. Host names are refused: DNS could change their address.
std::optional<endpoint> parse_address(std::string_view text) {
  const std::size_t colon = text.rfind(':');
  std::string host = colon == std::string_view::npos ? "127.0.0.1" : std::string(text.substr(0, colon));
  const std::string_view digits = colon == std::string_view::npos ? text : text.substr(colon + 1);
  std::uint16_t port = 0;
  const auto [end, wrong] = std::from_chars(digits.data(), digits.data() + digits.size(), port);
  if (wrong != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
  endpoint made;
  sockaddr_in four{};
  if (inet_pton(AF_INET, host.c_str(), &four.sin_addr) == 1) {
    four.sin_family = AF_INET;
    four.sin_port = htons(port);
    made.size = sizeof four;
    made.is_loopback = ntohl(four.sin_addr.s_addr) >> 24U == 127;
    std::memcpy(&made.address, &four, sizeof four);
    return made;
  }
  if (host.size() < 2 || host.front() != '[' || host.back() != ']') return std::nullopt;
  host = host.substr(1, host.size() - 2);
  sockaddr_in6 six{};
  if (inet_pton(AF_INET6, host.c_str(), &six.sin6_addr) != 1) return std::nullopt;
  six.sin6_family = AF_INET6;
  six.sin6_port = htons(port);
  made.size = sizeof six;
  made.is_loopback = std::memcmp(&six.sin6_addr, &in6addr_loopback, sizeof in6addr_loopback) == 0;
  std::memcpy(&made.address, &six, sizeof six);
  return made;
}

// Loaded for the server only: linked, this library and the ten that it needs would take a third of the start of every
// command.
struct http_library {
  void* const handle = dlopen(library_name, RTLD_NOW | RTLD_LOCAL);
  decltype(MHD_start_daemon)* const start_daemon = find<decltype(MHD_start_daemon)>("MHD_start_daemon");
  decltype(MHD_stop_daemon)* const stop_daemon = find<decltype(MHD_stop_daemon)>("MHD_stop_daemon");
  decltype(MHD_run)* const run = find<decltype(MHD_run)>("MHD_run");
  decltype(MHD_get_daemon_info)* const get_daemon_info = find<decltype(MHD_get_daemon_info)>("MHD_get_daemon_info");
  decltype(MHD_get_connection_info)* const get_connection_info =
      find<decltype(MHD_get_connection_info)>("MHD_get_connection_info");
  decltype(MHD_lookup_connection_value)* const lookup_value =
      find<decltype(MHD_lookup_connection_value)>("MHD_lookup_connection_value");
  decltype(MHD_create_response_from_buffer)* const create_response =
      find<decltype(MHD_create_response_from_buffer)>("MHD_create_response_from_buffer");
  decltype(MHD_add_response_header)* const add_header =
      find<decltype(MHD_add_response_header)>("MHD_add_response_header");
  decltype(MHD_queue_response)* const queue_response = find<decltype(MHD_queue_response)>("MHD_queue_response");
  decltype(MHD_destroy_response)* const destroy_response = find<decltype(MHD_destroy_response)>("MHD_destroy_response");

  template <class Function>
  Function* find(const char* name) const {
    void* const found = handle != nullptr ? dlsym(handle, name) : nullptr;
    if (found == nullptr)
      throw error(fmt::format("cannot listen: {} is missing, or lacks {}", library_name, name), library_name, 0,
                  "install libmicrohttpd 0.9.71 or later (Debian: libmicrohttpd12)");
    return reinterpret_cast<Function*>(found);
  }
};

// Throws error if it cannot be loaded.
const http_library& http() {
  static const http_library loaded;
  return loaded;
}

// Whether the header Host has a numeric address or localhost. A page of another site could otherwise read the answer
// through a browser of this machine, under a name of its own that it resolves to the loopback interface.
bool is_local_host(const char* header) {
  if (header == nullptr) return true;  // HTTP/1.0: no browser
  std::string host = header;
  if (!host.empty() && host.front() == '[') return host.find(']') != std::string::npos;
  host = host.substr(0, host.find(':'));
  in_addr ignored;
  return host == "localhost" || inet_pton(AF_INET, host.c_str(), &ignored) == 1;
}

}  // namespace

std::string complaint_on_address(const std::string& address) {
  if (parse_address(address)) return {};
  return fmt::format(
      "no address to listen on: '{}'\nwrite PORT or 127.0.0.1:PORT; [::1]:PORT for IPv6; 0.0.0.0:PORT lets other machines read",
      address);
}

struct metrics_server::state {
  struct client {
    int descriptor;
    clock::time_point begin;
  };
  std::function<std::string(lib::metrics_syntax)> make;
  bool is_loopback = true;
  std::string url;
  std::vector<client> clients;
  MHD_Daemon* daemon = nullptr;  // the last: it calls functions that use the others

  ~state() {
    if (daemon != nullptr) http().stop_daemon(daemon);
  }

  static MHD_Result give(MHD_Connection* to, unsigned status, const char* type, const std::string& text) {
    MHD_Response* const response = http().create_response(text.size(), const_cast<char*>(text.data()),
                                                          MHD_RESPMEM_MUST_COPY);  // NOLINT: it is copied
    if (response == nullptr) return MHD_NO;
    http().add_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, type);
    // A connection is a place that another client may need.
    http().add_header(response, MHD_HTTP_HEADER_CONNECTION, "close");
    const MHD_Result done = http().queue_response(to, status, response);
    http().destroy_response(response);
    return done;
  }

  MHD_Result handle(MHD_Connection* from, std::string_view path, std::string_view method) const {
    constexpr const char* plain = "text/plain; charset=utf-8";
    const auto header = [&](const char* name) { return http().lookup_value(from, MHD_HEADER_KIND, name); };
    if (method != MHD_HTTP_METHOD_GET) return give(from, MHD_HTTP_METHOD_NOT_ALLOWED, plain, "only GET\n");
    if (is_loopback && !is_local_host(header(MHD_HTTP_HEADER_HOST)))
      return give(from, MHD_HTTP_FORBIDDEN, plain, "the host must be an address or localhost\n");
    if (path != "/metrics") return give(from, MHD_HTTP_NOT_FOUND, plain, "the metrics are at /metrics\n");
    const char* const accepted = header(MHD_HTTP_HEADER_ACCEPT);
    if (accepted != nullptr && std::strstr(accepted, "application/openmetrics-text") != nullptr)
      return give(from, MHD_HTTP_OK, "application/openmetrics-text; version=1.0.0; charset=utf-8",
                  make(lib::metrics_syntax::open_metrics));
    return give(from, MHD_HTTP_OK, "text/plain; version=0.0.4; charset=utf-8", make(lib::metrics_syntax::text));
  }

  // No exception may pass through a library in C.
  static MHD_Result on_request(void* self, MHD_Connection* from, const char* path, const char* method, const char*,
                               const char*, std::size_t*, void**) noexcept {
    try {
      return static_cast<state*>(self)->handle(from, path, method);
    } catch (const std::exception&) {
      return MHD_NO;  // ends the connection
    }
  }

  static void on_connection(void* self, MHD_Connection* which, void**, MHD_ConnectionNotificationCode what) noexcept {
    std::vector<client>& clients = static_cast<state*>(self)->clients;
    const MHD_ConnectionInfo* const about = http().get_connection_info(which, MHD_CONNECTION_INFO_CONNECTION_FD);
    if (about == nullptr) return;
    if (what == MHD_CONNECTION_NOTIFY_STARTED) {
      clients.push_back({about->connect_fd, clock::now()});  // has room: reserved
      return;
    }
    const auto is_this = [&](const client& each) { return each.descriptor == about->connect_fd; };
    clients.erase(std::remove_if(clients.begin(), clients.end(), is_this), clients.end());
  }
};

metrics_server::metrics_server(const std::string& address, std::function<std::string(lib::metrics_syntax)> make)
    : state_(std::make_unique<state>()) {
  const auto fail = [&](int number) {
    throw error("cannot listen on " + address, address, number, "choose another port; port 0 is any free port");
  };
  http();
  const std::optional<endpoint> wanted = parse_address(address);
  if (!wanted) fail(EINVAL);
  lib::descriptor listening(socket(wanted->address.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!listening) fail(errno);
  const int yes = 1;
  setsockopt(listening.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);  // after an earlier observer's end
  const auto* const bound_to = reinterpret_cast<const sockaddr*>(&wanted->address);
  if (bind(listening.get(), bound_to, wanted->size) != 0 || listen(listening.get(), max_clients) != 0) fail(errno);
  sockaddr_storage bound{};
  socklen_t size = sizeof bound;
  if (getsockname(listening.get(), reinterpret_cast<sockaddr*>(&bound), &size) != 0) fail(errno);
  char host[INET6_ADDRSTRLEN] = {};
  if (bound.ss_family == AF_INET) {
    sockaddr_in four;
    std::memcpy(&four, &bound, sizeof four);
    inet_ntop(AF_INET, &four.sin_addr, host, sizeof host);
    state_->url = fmt::format("http://{}:{}/metrics", host, ntohs(four.sin_port));
  } else {
    sockaddr_in6 six;
    std::memcpy(&six, &bound, sizeof six);
    inet_ntop(AF_INET6, &six.sin6_addr, host, sizeof host);
    state_->url = fmt::format("http://[{}]:{}/metrics", host, ntohs(six.sin6_port));
  }
  state_->make = std::move(make);
  state_->is_loopback = wanted->is_loopback;
  state_->clients.reserve(std::size_t{2} * max_clients);
  state_->daemon = http().start_daemon(
      MHD_USE_EPOLL | (bound.ss_family == AF_INET6 ? MHD_USE_IPv6 : 0), 0, nullptr, nullptr, state::on_request,
      state_.get(), MHD_OPTION_LISTEN_SOCKET, listening.get(), MHD_OPTION_CONNECTION_LIMIT, max_clients,
      MHD_OPTION_CONNECTION_TIMEOUT, max_idle_s, MHD_OPTION_CONNECTION_MEMORY_LIMIT, max_client_bytes,
      MHD_OPTION_NOTIFY_CONNECTION, state::on_connection, state_.get(), MHD_OPTION_END);
  if (state_->daemon == nullptr) fail(errno);
  listening.release();  // the daemon closes it
}

metrics_server::~metrics_server() = default;

std::string metrics_server::url() const { return state_->url; }

int metrics_server::descriptor() const {
  const MHD_DaemonInfo* const about = http().get_daemon_info(state_->daemon, MHD_DAEMON_INFO_EPOLL_FD);
  return about != nullptr ? about->epoll_fd : -1;
}

void metrics_server::answer() {
  const clock::time_point now = clock::now();
  for (const state::client& each : state_->clients)
    if (now - each.begin > max_client_time) shutdown(each.descriptor, SHUT_RDWR);
  http().run(state_->daemon);
}

}  // namespace adaptyst::tools
