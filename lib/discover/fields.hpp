// The parts of the results of `adaptyst doctor` and `adaptyst sites`.
#ifndef ADAPTYST_LIB_DISCOVER_FIELDS_HPP
#define ADAPTYST_LIB_DISCOVER_FIELDS_HPP

#include <fmt/format.h>

#include <optional>
#include <string>

#include "../model/fields.hpp"
#include "../model/words.hpp"
#include "inspection.hpp"

namespace adaptyst::lib {

template <>
inline constexpr std::array words<verdict>{"ok", "no", "unknown"};

namespace listed {

inline std::optional<std::string> not_empty(const std::string& text) {
  return text.empty() ? std::nullopt : std::optional(text);
}
inline std::string hex(std::uint64_t number) { return fmt::format("{:#x}", number); }
inline std::optional<std::string> hex(const std::optional<std::uint64_t>& number) {
  return number ? std::optional(hex(*number)) : std::nullopt;
}

constexpr auto fields(type<check>) {
  using of = check;
  return list(
      "check", "A requirement of eBPF.", value("subject", &of::subject, always, "Name of the requirement."),
      value("verdict", &of::is, always, "Whether the requirement is met."),
      value("found", &of::found, always, "The state of the machine."),
      value("enables", &of::enables, always, "Purpose of the requirement."),
      follows(
          "advice", [](const of& item) { return not_empty(item.advice); }, always, "Remedy; null: none needed."));
}

constexpr auto fields(type<diagnosis>) {
  using of = diagnosis;
  return list("diagnosis", "Whether eBPF works on this machine.",
              value("ebpf_works", &of::ebpf_works, always, "Result of a test."),
              value("checks", &of::checks, always, "The requirements."));
}

constexpr auto fields(type<probe>) {
  using of = probe;
  return list("probe", "A probe. Addresses are those of the process, or as linked for a file.",
              value("name", &of::name, always, "The name of the probe."),
              value("arguments", &of::arguments, always, "Locations of the arguments, from the file."),
              follows(
                  "file_offset", [](const of& item) { return hex(item.file_offset); }, always,
                  "Offset in the file, hexadecimal."),
              follows(
                  "address", [](const of& item) { return hex(item.address); }, always, "Address, hexadecimal."),
              follows(
                  "semaphore", [](const of& item) { return hex(item.semaphore); }, always,
                  "Address of its semaphore; null: none."),
              value("fast_point", &of::has_fast_point, always,
                    "true if it has the 10-byte and the 5-byte nop: Linux 6.18 or 7.3 replaces one by a call."));
}

constexpr auto fields(type<marked_object>) {
  using of = marked_object;
  return list("object", "An ELF object with markers.", value("file", &of::file, always, "Path of the object."),
              value("abi", &of::abi, always, "ABI version of the headers that it was built with."),
              follows(
                  "control_block", [](const of& item) { return hex(item.control_block); }, always,
                  "Address of its control block; null: another ABI version."),
              value("probes", &of::probes, always, "Its probes."),
              follows(
                  "no_probes_because", [](const of& item) { return not_empty(item.no_probes_because); }, always,
                  "Why there are no probes; null: there are some."));
}

constexpr auto fields(type<listed_marker>) {
  using of = listed_marker;
  return list("marker", "A marker that was enabled.", value("name", &of::name, always, "The name of its region."),
              value("label", &of::label, always, "The texts of its payload."),
              value("kind", &of::kind, always, "The kind of its events."),
              value("site", &of::site, always, "Its place in the source."),
              value("ended", &of::ended, always, "Ended events since the last start of an observation."));
}

constexpr auto fields(type<inspection>) {
  using of = inspection;
  return list(
      "inspection", "The probes and markers of a file or a process.",
      follows(
          "file", [](const of& item) { return item.process == 0 ? std::optional(item.file) : std::nullopt; }, always,
          "Path of the file; null: a process was inspected."),
      follows(
          "process", [](const of& item) { return item.process != 0 ? std::optional(item.process) : std::nullopt; },
          always, "Process id; null: a file was inspected."),
      value("objects", &of::objects, always, "ELF objects with markers."),
      value("markers", &of::markers, always, "Markers of a process, by file and line; null: unknown."),
      follows(
          "no_markers_because", [](const of& item) { return not_empty(item.no_markers_because); }, always,
          "Why the markers are unknown; null: they are known."));
}

}  // namespace listed
}  // namespace adaptyst::lib

#endif
