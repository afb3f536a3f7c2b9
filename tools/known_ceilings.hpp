// Ceilings of a machine that were measured before, for subcommands that report regions.
#ifndef ADAPTYST_TOOLS_KNOWN_CEILINGS_HPP
#define ADAPTYST_TOOLS_KNOWN_CEILINGS_HPP

#include <CLI/CLI.hpp>
#include <adaptyst/profile.hpp>
#include <optional>
#include <string>

namespace adaptyst::tools {

struct ceilings_choice {
  std::string file;  // empty: the one that is kept for the machine
  std::string precision = "double";
};

// --ceilings, --precision
void add_ceilings(CLI::App& app, ceilings_choice& choice);

// Of this machine by name. Nothing: none are kept. Ceilings that are damaged or of another machine are refused: an error
// where the user has named the file, otherwise a complaint, and nothing.
std::optional<machine_ceilings> find_known_ceilings(const std::string& host, const ceilings_choice& choice);

// Where a profile's processes ran on one machine, and its ceilings are known.
void add_known_rooflines(profile& to, const ceilings_choice& choice);

}  // namespace adaptyst::tools

#endif
