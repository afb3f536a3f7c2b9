// Ceilings of a machine that were measured before, for subcommands that report regions.
#ifndef ADAPTYST_TOOLS_KNOWN_CEILINGS_HPP
#define ADAPTYST_TOOLS_KNOWN_CEILINGS_HPP

#include <CLI/CLI.hpp>
#include <adaptyst/profile.hpp>
#include <optional>
#include <string>

namespace adaptyst::tools {

struct ceilings_choice {
  std::string file;  // empty: the usual file of the machine
  std::string precision = "double";
};

// --ceilings, --precision
void add_ceilings(CLI::App& app, ceilings_choice& choice);

// The ceilings of the machine `host`; empty: none are kept. Damaged ceilings and ceilings of another machine are
// refused: throws error if the user has named the file; otherwise warns, and returns nothing.
std::optional<machine_ceilings> find_stored_ceilings(const std::string& host, const ceilings_choice& choice);

// Adds rooflines if all processes of the profile ran on one machine with known ceilings.
void add_known_rooflines(profile& to, const ceilings_choice& choice);

}  // namespace adaptyst::tools

#endif
