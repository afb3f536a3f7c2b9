// Numbers with units, as users write them.
#include "support/units.hpp"

#include "catch.hpp"

using adaptyst::lib::list_units;
using adaptyst::lib::parse_number;
using adaptyst::lib::unit_kind;

TEST_CASE("a number without a unit has the default one") {
  CHECK(parse_number(unit_kind::duration, "2") == 2e9);
  CHECK(parse_number(unit_kind::percentage, "2") == 0.02);
  CHECK(parse_number(unit_kind::size, "256") == 256.0 * 1024 * 1024);
}

TEST_CASE("a unit follows the number at once") {
  CHECK(parse_number(unit_kind::duration, "2s") == 2e9);
  CHECK(parse_number(unit_kind::duration, "10ms") == 1e7);
  CHECK(parse_number(unit_kind::duration, "0.5us") == 500.0);
  CHECK(parse_number(unit_kind::duration, "3ns") == 3.0);
  CHECK(parse_number(unit_kind::duration, "2min") == 120e9);
  CHECK(parse_number(unit_kind::duration, "1h") == 3600e9);
  CHECK(parse_number(unit_kind::percentage, "7%") == 0.07);
  CHECK(parse_number(unit_kind::size, "1.5G") == 1.5 * 1024 * 1024 * 1024);
  CHECK(parse_number(unit_kind::size, "64K") == 65536.0);
  CHECK(parse_number(unit_kind::size, "1T") == 1024.0 * 1024 * 1024 * 1024);
}

TEST_CASE("other texts are no numbers") {
  for (const unit_kind kind : {unit_kind::duration, unit_kind::percentage, unit_kind::size})
    for (const char* const wrong :
         {"", "x", "s", "%", "M", "-1", "-0", "nan", "inf", "1e400", "1 s", "1S", "1%%", "1.5.5", "1d"}) {
      CAPTURE(wrong);
      CHECK_FALSE(parse_number(kind, wrong));
    }
  CHECK_FALSE(parse_number(unit_kind::duration, "1%"));
  CHECK_FALSE(parse_number(unit_kind::percentage, "1s"));
}

TEST_CASE("hints name the units") {
  CHECK(list_units(unit_kind::duration) == "the units are s, ms, us, ns, min and h; s if none is given");
  CHECK(list_units(unit_kind::percentage) == "the unit is %, also if none is given");
  CHECK(list_units(unit_kind::size) == "the units are M, K, G and T; M if none is given");
}
