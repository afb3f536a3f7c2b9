#include <fmt/format.h>

#include <adaptyst/profile.hpp>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

#include "../support/error.hpp"
#include "../support/output_file.hpp"
#include "forms.hpp"

namespace adaptyst { inline namespace v1 {

profile read_profile(const std::string& file) {
  const auto fail = [&](int number) {
    throw lib::error(fmt::format("cannot read {}", file), file, number, "name a file that output=FILE.json made");
  };
  struct closer {
    void operator()(std::FILE* open) const { std::fclose(open); }
  };
  const std::unique_ptr<std::FILE, closer> in(std::fopen(file.c_str(), "re"));
  if (!in) fail(errno);
  std::string text;
  char part[65536];
  constexpr std::size_t max_bytes = std::size_t{1} << 30;  // some hundred large profiles; /dev/zero has no end
  for (std::size_t got = 0; (got = std::fread(part, 1, sizeof part, in.get())) != 0;) {
    if (text.size() > max_bytes) fail(EFBIG);
    // Text has no zero bytes, and a damaged file of another kind may have a GiB of them.
    if (std::memchr(part, 0, got) != nullptr)
      throw lib::error(fmt::format("{} is not a profile: it is no text", file), file, 0,
                       "name a file that output=FILE.json made");
    text.append(part, got);
  }
  if (std::ferror(in.get()) != 0) fail(errno);
  try {
    return from_json(text);
  } catch (const lib::error& wrong) {
    throw lib::error(fmt::format("{}: {}", file, wrong.summary()), file, 0, wrong.hint());
  }
}

void write_profile(const std::string& file, const profile& profile) {
  try {
    lib::write_file(file, [&](const lib::text_taker& to) { lib::write_json(profile, to); });
  } catch (const lib::error& failure) {  // its hint names the options of a collector
    throw lib::error(fmt::format("cannot write the profile to {}", file), file, failure.number(),
                     "choose another place");
  }
}

}}  // namespace adaptyst::v1
