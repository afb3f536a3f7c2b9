// Where the ranks of a job on one machine find their observer: a socket with a name that all of them can work out.
//
// It is an abstract one, so that it goes with its owner and leaves no file. Any process can take the name: neither side
// trusts one that belongs to another user. Each rank keeps its connection as long as its program runs; the end of a
// connection is the end of who was there.
#ifndef ADAPTYST_TOOLS_NODE_MEETING_HPP
#define ADAPTYST_TOOLS_NODE_MEETING_HPP

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "gated_program.hpp"
#include "observing.hpp"
#include "support/descriptor.hpp"
#include "support/launched_job.hpp"

namespace adaptyst::tools {

// What is said over a connection: the first character of a packet, with what follows it.
namespace node_message {
constexpr char welcome = 'w';   // to a rank: the name of the observer's socket
constexpr char refused = 'r';   // to a rank: the observer has said why, and the program is not to begin
constexpr char expect = 'e';    // from a rank: the program's process, then its words, each with a zero before it
constexpr char begin = 'b';     // to a rank: its program is expected
constexpr char ended = 'x';     // from a rank: its program has
constexpr char no_start = 'n';  // from a rank: it could not be started
constexpr char leave = 'l';     // to a rank that has ended: others still run
constexpr char reported = 'd';  // to the last one
}  // namespace node_message

// The same for ranks of one job that have the same user, directory and options, and this version.
std::string meeting_name(const lib::launched_job& job, const observing_options& options);

struct meeting_attempt {
  lib::descriptor made;
  int number = 0;  // errno, if none was made
};
meeting_attempt listen_at(const std::string& name);
meeting_attempt connect_to(const std::string& name);

// Whether the other end is a process of this user that we can see; its number then, else 0.
pid_t find_peer(const lib::descriptor& connection);

// A packet; false: it could not be sent at once.
bool send_message(const lib::descriptor& connection, char what, std::string_view rest = {});
// What has been said; empty: nothing within this time, or the connection has ended, which `ended` tells.
std::optional<std::string> receive_message(const lib::descriptor& from, std::chrono::milliseconds limit, bool& ended);

// A rank that leaves the observing to one process for all ranks of its machine: it only starts its program, passes
// signals on, and ends as the program does.
// The status of the command, as waitpid() tells it; empty: there is no observer for all, and the command has not begun.
std::optional<int> run_in_node(const observing_options& options, const std::vector<std::string>& command,
                               environment gained);

// The process that observes all ranks of a job on one machine.
// Forks it; `meeting`: where ranks connect. It ends by itself when all programs have, with a report. False: it could
// not be forked.
bool start_node_observer(lib::descriptor meeting, const observing_options& options, const lib::launched_job& job);

}  // namespace adaptyst::tools

#endif
