// A level where a payload may stand.
#ifndef ADAPTYST_DETAIL_LEVEL_PAYLOAD_HPP
#define ADAPTYST_DETAIL_LEVEL_PAYLOAD_HPP

#include "../level.hpp"
#include "site.hpp"

namespace adaptyst { inline namespace v1 { namespace detail {

template <>
struct payload_reader<level, true> {
  explicit payload_reader(level on) noexcept : values_{nullptr, 0, {nullptr, 0}, {}, static_cast<uint32_t>(on)} {}
  const payload_values& read() const noexcept { return values_; }

 private:
  payload_values values_;
};

template <class Payload>
struct payload_reader<levelled_payload<Payload>, true> {
  explicit payload_reader(const levelled_payload<Payload>& of) noexcept : own_(of.payload), values_(own_.read()) {
    values_.level = static_cast<uint32_t>(of.on);
  }
  const payload_values& read() const noexcept { return values_; }

 private:
  payload_reader<Payload> own_;  // holds the label
  payload_values values_;
};

}}}  // namespace adaptyst::v1::detail

#endif
