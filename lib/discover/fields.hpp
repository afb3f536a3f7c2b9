// The parts of what `adaptyst doctor` and `adaptyst sites` find.
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
      "check", "A requirement of eBPF.", value("subject", &of::subject, always, "Its name."),
      value("verdict", &of::is, always, "Whether it is there."),
      value("found", &of::found, always, "The state of the machine."),
      value("enables", &of::enables, always, "The purpose."),
      follows(
          "advice", [](const of& one) { return not_empty(one.advice); }, always, "null: nothing is to be done."));
}

constexpr auto fields(type<diagnosis>) {
  using of = diagnosis;
  return list("diagnosis", "Whether eBPF works on this machine.",
              value("ebpf_works", &of::ebpf_works, always, "As it was tried."),
              value("checks", &of::checks, always, "Its requirements."));
}

constexpr auto fields(type<probe>) {
  using of = probe;
  return list(
      "probe", "A place to attach to. Addresses are those of the process, or as linked if a file was read.",
      value("name", &of::name, always, "The name of the probe."),
      value("arguments", &of::arguments, always, "Locations of the arguments, from the file."),
      follows(
          "file_offset", [](const of& one) { return hex(one.file_offset); }, always, "In hexadecimal."),
      follows(
          "address", [](const of& one) { return hex(one.address); }, always, "In hexadecimal."),
      follows(
          "semaphore", [](const of& one) { return hex(one.semaphore); }, always, "Its address; null: it has none."),
      value("fast_point", &of::has_fast_point, always, "A 5-byte nop, which Linux 6.18 replaces by a call."));
}

constexpr auto fields(type<marked_object>) {
  using of = marked_object;
  return list("object", "An ELF object with markers.", value("file", &of::file, always, "Its path."),
              value("abi", &of::abi, always, "The version of the headers that it was built with."),
              follows(
                  "control_block", [](const of& one) { return hex(one.control_block); }, always,
                  "Its address; null: of another version."),
              value("probes", &of::probes, always, "To attach to."),
              follows(
                  "no_probes_because", [](const of& one) { return not_empty(one.no_probes_because); }, always,
                  "null: there are some."));
}

constexpr auto fields(type<known_marker>) {
  using of = known_marker;
  return list("marker", "A marker that has been awake.", value("name", &of::name, always, "The name of its region."),
              value("label", &of::label, always, "The texts of its payload."),
              value("kind", &of::kind, always, "The kind of its events."),
              value("site", &of::site, always, "Its place in the source."),
              value("ended", &of::ended, always, "Events, since the process was last begun to be observed."));
}

constexpr auto fields(type<inspection>) {
  using of = inspection;
  return list("inspection", "The probes and markers of a file or a process.",
              follows(
                  "file", [](const of& one) { return one.process == 0 ? std::optional(one.file) : std::nullopt; },
                  always, "null: a process was looked at."),
              follows(
                  "process", [](const of& one) { return one.process != 0 ? std::optional(one.process) : std::nullopt; },
                  always, "null: a file was looked at."),
              value("objects", &of::objects, always, "With markers."),
              value("markers", &of::markers, always, "Markers of a process, by file and line; null: unknown."),
              follows(
                  "no_markers_because", [](const of& one) { return not_empty(one.no_markers_because); }, always,
                  "null: they are known."));
}

}  // namespace listed
}  // namespace adaptyst::lib

#endif
