// What may have been meant by a name that is not known.
#include "support/nearest.hpp"

#include <string>

#include "catch.hpp"

using adaptyst::lib::did_you_mean;
using adaptyst::lib::distance;
using adaptyst::lib::nearest;

TEST_CASE("a distance counts what is put in, taken out, replaced or swapped") {
  CHECK(distance("", "") == 0);
  CHECK(distance("", "abc") == 3);
  CHECK(distance("abc", "") == 3);
  CHECK(distance("overhead", "overhead") == 0);
  CHECK(distance("overhaed", "overhead") == 1);
  CHECK(distance("ovrhead", "overhead") == 1);
  CHECK(distance("overrhead", "overhead") == 1);
  CHECK(distance("overhexd", "overhead") == 1);
  CHECK(distance("kitten", "sitting") == 3);
}

TEST_CASE("the nearest name is named, if one is near") {
  const std::vector<std::string_view> words = {"engine", "report", "output", "overhead", "on"};
  CHECK(nearest("egnine", words) == "engine");
  CHECK(nearest("Report", words) == "report");
  CHECK(nearest("overheads", words) == "overhead");
  CHECK(nearest("colour", words).empty());
  CHECK(nearest("", words).empty());
  CHECK(nearest("xy", words).empty());  // a short name is not near to all other short ones
  CHECK(nearest(std::string(100'000, 'o'), words).empty());
  CHECK(nearest("engine", {}).empty());
}

TEST_CASE("what is known is listed, behind what was meant") {
  CHECK(did_you_mean("tabel", {"table", "none"}) == "did you mean 'table'? choose from table, none");
  CHECK(did_you_mean("everything", {"table", "none"}) == "choose from table, none");
}
