#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <system_error>

#include "../model/measured_ceilings.hpp"
#include "../support/error.hpp"
#include "../support/output_file.hpp"
#include "../support/regular_file.hpp"
#include "forms.hpp"

namespace adaptyst::lib {

namespace {

constexpr const char* how_to_measure = "measure them on that machine: adaptyst doctor --measure-ceilings";

std::string find_folder() {
  const auto variable = [](const char* name) {
    const char* const value = std::getenv(name);
    return std::string(value != nullptr && *value == '/' ? value : "");  // the XDG standard ignores relative paths
  };
  if (const std::string cache = variable("XDG_CACHE_HOME"); !cache.empty()) return cache + "/adaptyst";
  const std::string home = variable("HOME");
  return home.empty() ? home : home + "/.cache/adaptyst";
}

}  // namespace

std::string usual_ceilings_file(const std::string& host) {
  const std::string folder = find_folder();
  if (folder.empty() || host.empty() || host.find('/') != std::string::npos) return {};
  return fmt::format("{}/ceilings-{}.json", folder, host);
}

void write_ceilings(const std::string& file, const measured_ceilings& ceilings) {
  if (file == usual_ceilings_file(ceilings.host)) {
    std::error_code failed;
    std::filesystem::create_directories(std::filesystem::path(file).parent_path(), failed);
    if (failed)
      throw error(fmt::format("cannot make the folder of {}", file), file, failed.value(),
                  "name another file: --ceilings FILE");
  }
  try {
    write_file(file, to_json(ceilings));
  } catch (const error& failure) {  // its hint names the options of a collector
    throw error(fmt::format("cannot write the ceilings to {}", file), file, failure.number(),
                "name another file: --ceilings FILE");
  }
}

measured_ceilings read_ceilings(const std::string& file) {
  const regular_file in(file, "ceilings", how_to_measure);
  constexpr std::size_t max_bytes = 65536;  // thirty times the size of the file
  std::string text(max_bytes + 1, '\0');
  text.resize(in.read(0, text.data(), text.size()));
  if (text.size() > max_bytes)
    throw error(fmt::format("{} holds no ceilings: it is too long", file), file, 0, how_to_measure);
  try {
    return ceilings_from_json(text);
  } catch (const error& wrong) {
    std::string why = wrong.summary();  // json_value writes messages on profiles
    if (constexpr std::string_view prefix = "not a profile: "; why.compare(0, prefix.size(), prefix) == 0)
      why.erase(0, prefix.size());
    throw error(fmt::format("{} holds no ceilings: {}", file, why), file, 0, how_to_measure);
  }
}

std::string find_mismatch(const measured_ceilings& ceilings, const std::string& host, const std::string& cpu) {
  if (host.empty()) return "which one machine the figures are of is not known";
  if (ceilings.host != host) return fmt::format("they are of {}, and the figures of {}", ceilings.host, host);
  if (!cpu.empty() && ceilings.cpu != cpu)
    return fmt::format("they are of a machine of this name with another processor, {}, and not {}", ceilings.cpu, cpu);
  return {};
}

}  // namespace adaptyst::lib
