// Merges two messages. A part that one side does not have is null there.
#include <tuple>
#include <utility>

#include "../model/merging.hpp"
#include "../model/order.hpp"
#include "message_parts.hpp"

namespace adaptyst::lib {

namespace {

using source = message_reader*;

// The counts of a row or attribute on each side: the minimum and maximum of an empty side are ignored.
struct counts {
  std::uint64_t a = 0, b = 0;
  empty_sides empty{};

  void note_sums(std::uint64_t of_a, std::uint64_t of_b) { empty = {empty.a && of_a == 0, empty.b && of_b == 0}; }
};

template <class Struct, class = void>
constexpr bool has_count = false;
template <class Struct>
constexpr bool has_count<Struct, std::void_t<decltype(&Struct::count)>> = true;

// NaN is the greatest value.
bool is_less(double a, double b) {
  const auto key = [](double value) {
    const std::uint64_t bits = double_bits(value);
    return (bits >> 63U) != 0 ? ~bits : bits | std::uint64_t{1} << 63U;
  };
  return key(a) < key(b);
}
template <class Number>
bool is_less(Number a, Number b) {
  return a < b;
}

class message_merger {
 public:
  message_merger(message_limits limits, message_reader& a, message_reader& b)
      : to_(limits), limits_(limits), a_(a), b_(b) {}

  std::string merge() {
    to_.write_limits();
    merge_fields<profile>(&a_, &b_);
    merge_ranks();
    merge_devices();
    merge_rows();
    a_.require_end();
    b_.require_end();
    return to_.out.finish(message_kind::profile);
  }

 private:
  template <class Struct>
  void merge_fields(source a, source b) {
    counts counted;
    listed::for_each<Struct>([&](const auto& field) { merge_field<Struct>(a, b, field, counted); });
  }
  template <class Struct, class Value>
  void merge_field(source a, source b, const listed::member<Struct, Value>& field, counts& counted) {
    if constexpr (!is_separate<Value>) {
      if (field.how == listed::separate || is_key(field)) return;
      if constexpr (has_count<Struct> && std::is_same_v<Value, std::uint64_t>) {
        if (field.at == &Struct::count) {
          counted.a = a != nullptr ? a->get() : 0;
          counted.b = b != nullptr ? b->get() : 0;
          counted.note_sums(counted.a, counted.b);
          to_.out.put(counted.a + counted.b);
          return;
        }
      }
      merge_value<Value>(a, b, field.how, counted, has_count<Struct>);
    }
  }
  template <class Struct, class Other>
  void merge_field(source, source, const Other& /*no member*/, counts&) {}

  template <class Value>
  void merge_value(source a, source b, listed::merging how, counts& counted, bool is_counted) {
    if constexpr (std::is_same_v<Value, std::string>) {
      to_.out.put_text(merge_texts(a, b, how));
    } else if constexpr (std::is_same_v<Value, source_location>) {
      merge_sites(a, b);
    } else if constexpr (std::is_same_v<Value, device_clock_sync>) {
      merge_whole<Value>(a, b, [](const Value& x, const Value& y) { return order(x) < order(y); });
    } else if constexpr (std::is_same_v<Value, histogram>) {
      sparse_histogram &all = left_.values, &other = right_.values;
      get_histogram(a != nullptr ? *a : *b, all);
      if (a != nullptr && b != nullptr) {
        get_histogram(*b, other);
        all.add(other);
      }
      put_histogram(to_.out, all, limits_.durations);
    } else if constexpr (std::is_enum_v<Value>) {
      std::optional<std::uint64_t> least;
      for (message_reader* const side : {a, b}) {
        if (side == nullptr) continue;
        const std::uint64_t value = side->get(last_value<Value>());
        least = least ? std::min(*least, value) : value;
      }
      to_.out.put(*least);
    } else if constexpr (std::is_arithmetic_v<Value>) {
      merge_numbers<Value>(a, b, how, counted, is_counted);
    } else {
      merge_parts(static_cast<const Value*>(nullptr), a, b, how, counted);
    }
  }

  static std::string merge_texts(source a, source b, listed::merging how) {
    const std::string left(a != nullptr ? a->get_text() : ""), right(b != nullptr ? b->get_text() : "");
    if (a == nullptr || b == nullptr) return a != nullptr ? left : right;
    return how == listed::joined ? joined(left, right) : std::min(left, right);
  }

  // In the order of the fields; takes the first of both.
  void merge_sites(source a, source b) {
    using site = std::tuple<std::string_view, std::uint32_t, std::string_view>;
    std::optional<site> first;
    for (message_reader* const side : {a, b}) {
      if (side == nullptr) continue;
      const std::string_view file = side->get_text();
      const std::uint32_t line = read_number(*side, &line);
      const site candidate{file, line, side->get_text()};
      if (!first || candidate < *first) first = candidate;
    }
    to_.out.put_text(std::get<0>(*first));
    write_number(to_.out, std::get<1>(*first));
    to_.out.put_text(std::get<2>(*first));
  }

  // Copies one of the two unchanged.
  template <class Value, class IsSecond>
  void merge_whole(source a, source b, const IsSecond& is_second) {
    Value left{}, right{};
    if (a != nullptr) read_fields(*a, left);
    if (b != nullptr) read_fields(*b, right);
    to_.write_fields(a == nullptr || (b != nullptr && is_second(left, right)) ? right : left);
  }

  template <class Number>
  void merge_numbers(source a, source b, listed::merging how, counts& counted, bool is_counted) {
    if constexpr (std::is_same_v<Number, double>) {
      if (how == listed::sum) {
        exact_sum all;
        if (a != nullptr) all = read_sum(*a);
        if (b != nullptr) all.add(read_sum(*b));
        return write_sum(to_.out, all);
      }
    }
    Number left{}, right{};
    if (a != nullptr) left = read_number(*a, &left);
    if (b != nullptr) right = read_number(*b, &right);
    if constexpr (std::is_integral_v<Number>)
      if (how == listed::sum) counted.note_sums(left, right);
    const bool is_extreme = how == listed::least || how == listed::greatest;
    const bool has_left = a != nullptr && !(is_extreme && is_counted && counted.a == 0 && counted.b != 0);
    const bool has_right = b != nullptr && !(is_extreme && is_counted && counted.b == 0 && counted.a != 0);
    if (!has_left || !has_right) return write_number(to_.out, has_left ? left : right);
    if (how == listed::sum) return write_number(to_.out, static_cast<Number>(left + right));
    const bool wants_right = how == listed::greatest ? is_less(left, right) : is_less(right, left);
    write_number(to_.out, wants_right ? right : left);
  }

  template <class Struct>
  void merge_parts(const Struct* /*type*/, source a, source b, listed::merging /*how*/, counts& /*of row*/) {
    merge_fields<Struct>(a, b);
  }
  template <class Value>
  void merge_parts(const std::optional<Value>* /*type*/, source a, source b, listed::merging how, counts& counted) {
    message_reader* const left = a != nullptr && a->get(1) != 0 ? a : nullptr;
    message_reader* const right = b != nullptr && b->get(1) != 0 ? b : nullptr;
    if constexpr (listed::is_number<std::optional<Value>>)
      if (how == listed::sum_if_complete) return merge_if_complete<Value>(left, right, counted.empty);
    to_.out.put(left != nullptr || right != nullptr ? 1 : 0);
    if (left == nullptr && right == nullptr) return;
    if (how == listed::part)  // a missing list means all
      return to_.out.put((left != nullptr ? left->get() : counted.a) + (right != nullptr ? right->get() : counted.b));
    counts none;
    merge_value<Value>(left, right, how, none, false);
  }
  template <class Number>
  void merge_if_complete(source a, source b, const empty_sides& empty) {
    using exact = std::conditional_t<std::is_same_v<Number, double>, exact_sum, Number>;
    const auto read = [](source side) {
      if (side == nullptr) return std::optional<exact>();
      if constexpr (std::is_same_v<Number, double>) return std::optional(read_sum(*side));
      else return std::optional(read_number(*side, static_cast<const Number*>(nullptr)));
    };
    const std::optional<exact> left = read(a), right = read(b), sum = add_if_known(left, right, empty);
    to_.out.put(sum ? 1 : 0);
    if (!sum) return;
    if constexpr (std::is_same_v<Number, double>) write_sum(to_.out, *sum);
    else write_number(to_.out, *sum);
  }
  template <class Key, class Value>
  void merge_parts(const std::map<Key, Value>* /*type*/, source a, source b, listed::merging how, counts& /*of row*/) {
    Key left{}, right{};
    const auto next = [](source side, Key& key) {
      const bool is_present = side != nullptr && side->get(1) != 0;
      if (is_present) read_key(*side, key);
      return is_present;
    };
    counts none;
    bool has_left = next(a, left), has_right = next(b, right);
    for (std::size_t kept = 0; has_left || has_right; ++kept) {
      const bool takes_left = has_left && !(has_right && right < left);
      const bool takes_right = has_right && !(has_left && left < right);
      if (how == listed::joined && kept >= max_joined_keys) {
        merge_texts(takes_left ? a : nullptr, takes_right ? b : nullptr, how);
      } else {
        to_.out.put(1);
        write_key(to_.out, takes_left ? left : right);
        merge_value<Value>(takes_left ? a : nullptr, takes_right ? b : nullptr, how, none, false);
      }
      if (takes_left) has_left = next(a, left);
      if (takes_right) has_right = next(b, right);
    }
    to_.out.put(0);
  }

  void merge_ranks() {
    ranks_state all, other;
    all.read(a_);
    other.read(b_);
    all.processes.processes += other.processes.processes;
    all.processes.duration_ns += other.processes.duration_ns;
    if (other.ranks) all.ranks = all.ranks.value_or(0) + *other.ranks;
    all.account.merge(other.account);
    all.mpi.merge(other.mpi);  // the spreads contain its times
    add_spread(all.outside, other.outside);
    all.write(to_);
  }

  // Devices by identity: the n-th device of a message has another number in the result.
  struct devices_side {
    message_reader& from;
    std::vector<std::uint64_t> places{};
    device_usage next{};
    bool has_next = false;

    void advance() {
      has_next = from.get(1) != 0;
      if (!has_next) return;
      next.kind = static_cast<device_kind>(from.get(last_value<device_kind>()));
      next.index = static_cast<std::uint32_t>(from.get(std::numeric_limits<std::uint32_t>::max()));
      next.name = from.get_text();
    }
  };

  void merge_devices() {
    devices_side a{a_}, b{b_};
    a.advance();
    b.advance();
    std::uint64_t count = 0;
    for (; a.has_next || b.has_next; ++count) {
      const bool takes_a = a.has_next && !(b.has_next && order(b.next) < order(a.next));
      const bool takes_b = b.has_next && !(a.has_next && order(a.next) < order(b.next));
      const device_usage& device = takes_a ? a.next : b.next;
      to_.out.put(1);
      to_.out.put(static_cast<std::uint64_t>(device.kind));
      to_.out.put(device.index);
      to_.out.put_text(device.name);
      merge_fields<device_usage>(takes_a ? &a_ : nullptr, takes_b ? &b_ : nullptr);
      for (devices_side* const side : {takes_a ? &a : nullptr, takes_b ? &b : nullptr}) {
        if (side == nullptr) continue;
        side->places.push_back(count);
        side->advance();
      }
    }
    to_.out.put(0);
    a.places.push_back(count);  // of an unknown device
    b.places.push_back(count);
    a_places_ = std::move(a.places);
    b_places_ = std::move(b.places);
  }

  struct rows_side {
    message_reader& from;
    const std::vector<std::uint64_t>& places;
    std::vector<std::string_view> path{};
    std::uint64_t id = 0, device = 0;
    bool has_next = false;

    void advance() {
      has_next = from.get(1) != 0;
      if (!has_next) return;
      read_path(from, path);
      id = from.get_whole();
      device = places[static_cast<std::size_t>(from.get(places.size() - 1))];
    }
    auto key() const { return std::tie(path, id, device); }
  };

  void merge_rows() {
    rows_side a{a_, a_places_}, b{b_, b_places_};
    a.advance();
    b.advance();
    while (a.has_next || b.has_next) {
      const int order = !b.has_next ? -1 : !a.has_next ? 1 : a.key() < b.key() ? -1 : b.key() < a.key() ? 1 : 0;
      const rows_side& row = order <= 0 ? a : b;
      message_reader* const left = order <= 0 ? &a_ : nullptr;
      message_reader* const right = order >= 0 ? &b_ : nullptr;
      to_.out.put(1);
      to_.write_path(row.path);
      to_.out.put_whole(row.id);
      to_.out.put(row.device);
      merge_fields<region>(left, right);
      merge_spreads(left, right);
      if (left != nullptr) a.advance();
      if (right != nullptr) b.advance();
    }
    to_.out.put(0);
  }

  void merge_spreads(source a, source b) {
    spread_state &all = left_, &other = right_;
    read_spread(a != nullptr ? *a : *b, all);
    other.spread.reset();
    if (a != nullptr && b != nullptr) read_spread(*b, other);
    add_spread(all, other);
    to_.write(all.spread, all.values);
  }

  static void add_spread(spread_state& sum, spread_state& more) {
    if (!sum.spread) std::swap(sum, more);
    if (!more.spread) return;
    // Extremes need only to know whether the histogram of a side is empty.
    sum.spread->total_ns.values.add_bucket(0, sum.values.counts().size());
    more.spread->total_ns.values.add_bucket(0, more.values.counts().size());
    sum.spread->merge(*more.spread);
    sum.values.add(more.values);
  }

  parts_writer to_;
  message_limits limits_;
  message_reader &a_, &b_;
  std::vector<std::uint64_t> a_places_, b_places_;
  spread_state left_, right_;  // their memory is reused
};

}  // namespace

std::string merge_messages(std::string_view a, std::string_view b) {
  message_reader left(a, message_kind::profile), right(b, message_kind::profile);
  const message_limits limits = read_limits(left), others = read_limits(right);
  if (limits.durations != others.durations || limits.ranks != others.ranks) right.fail("has other limits");
  return message_merger(limits, left, right).merge();
}

}  // namespace adaptyst::lib
