// The only user of Boost.PFR: members of an aggregate by number.
#ifndef ADAPTYST_DETAIL_PFR_HPP
#define ADAPTYST_DETAIL_PFR_HPP

#if !__has_include(<boost/pfr/core.hpp>)
#error \
    "adaptyst: payloads need Boost.PFR, from Boost 1.75 on (Debian 12: libboost1.81-dev); <adaptyst/region.hpp> does not"
#endif
#include <boost/pfr/core.hpp>
#if __has_include(<boost/pfr/core_name.hpp>)
#include <boost/pfr/core_name.hpp>
#endif

#include "config.hpp"

namespace adaptyst { inline namespace v1 { namespace detail {

template <class Aggregate>
constexpr std::size_t member_count = boost::pfr::tuple_size_v<Aggregate>;

template <std::size_t I, class Aggregate>
constexpr const auto& member(const Aggregate& aggregate) noexcept {
  return boost::pfr::get<I>(aggregate);
}

template <class Aggregate, class Visit>
constexpr void for_each_member(const Aggregate& aggregate, Visit&& visit) {
  boost::pfr::for_each_field(aggregate, static_cast<Visit&&>(visit));
}

}}}  // namespace adaptyst::v1::detail

#endif
