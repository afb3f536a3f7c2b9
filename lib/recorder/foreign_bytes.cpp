#include "foreign_bytes.hpp"

#include <atomic>

namespace adaptyst::lib {

namespace {

constexpr std::size_t max_bytes = std::size_t{768} << 20;
constexpr std::size_t max_total_bytes = std::size_t{1} << 30;
std::atomic<std::size_t> total_bytes{0};

}  // namespace

bool foreign_bytes::reserve(std::size_t more) noexcept {
  if (bytes_ + more > max_bytes || total_bytes.load() + more > max_total_bytes) return false;
  bytes_ += more;
  total_bytes += more;
  return true;
}

void foreign_bytes::give_back(std::size_t bytes) noexcept {
  bytes_ -= bytes;
  total_bytes -= bytes;
}

bool foreign_bytes::hold(std::size_t bytes) noexcept {
  give_back(bytes_);
  return reserve(bytes);
}

}  // namespace adaptyst::lib
