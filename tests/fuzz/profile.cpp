// A profile that another program has written: what `adaptyst report`, `diff` and `merge` are given.
#include <adaptyst/compare.hpp>

#include <adaptyst/profile.hpp>
#include <string_view>

#include "support/error.hpp"
#include "target.hpp"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    const adaptyst::profile read = adaptyst::from_json(text);
    const std::string written = adaptyst::to_json(read);
    EXPECT(adaptyst::to_json(adaptyst::from_json(written)) == written);
    adaptyst::profile twice = read;
    adaptyst::merge(twice, read);
    EXPECT(!adaptyst::to_table(twice).empty());
    const adaptyst::comparison compared = adaptyst::compare(read, twice);
    EXPECT(!adaptyst::to_table(compared).empty());
    EXPECT(!adaptyst::to_json(compared).empty());
  } catch (const adaptyst::lib::error&) {}
  return 0;
}
