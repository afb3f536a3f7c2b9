// The socket at which the ranks of a job on one machine find their observer. All ranks compute the same name.
//
// The socket is abstract, so it ends with its owner and leaves no file. Any process can take the name, so both sides
// refuse a process of another user. Each rank keeps its connection while its program runs; the end of a connection
// means the end of the process at the other side.
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
#include "support/launch_rank.hpp"

namespace adaptyst::tools {

// The first character of a packet, and the data after this character.
namespace node_message {
constexpr char welcome = 'w';   // to a rank: the name of the observer's socket, a zero, and observer::sample_file()
constexpr char refused = 'r';   // to a rank: the program must not begin; the observer has reported why
constexpr char expect = 'e';    // from a rank: the program's process, then its words, each with a zero before it
constexpr char begin = 'b';     // to a rank: its program is expected
constexpr char ended = 'x';     // from a rank: its program has ended
constexpr char no_start = 'n';  // from a rank: its program could not be started
constexpr char leave = 'l';     // to a rank that has ended: others still run
constexpr char reported = 'd';  // to the last rank: the report is written
}  // namespace node_message

// The name of the socket: equal for ranks of one job with the same user, directory, options and version.
std::string meeting_name(const lib::launched_job& job, const observing_options& options);

struct meeting_attempt {
  lib::descriptor made;
  int number = 0;  // errno, if no socket was made
};
meeting_attempt listen_at(const std::string& name);
meeting_attempt connect_to(const std::string& name);

// The number of the process at the other end; 0: it belongs to another user, or is not visible here.
pid_t find_peer(const lib::descriptor& connection);

// Sends a packet; false: it could not be sent at once.
bool send_message(const lib::descriptor& connection, char what, std::string_view rest = {});
// Receives a packet; empty: none came within this time, or the connection has ended, which sets `ended`.
std::optional<std::string> receive_message(const lib::descriptor& from, std::chrono::milliseconds limit, bool& ended);

// A rank with one observer for all ranks of its machine: starts the program, passes signals on, and waits for its end.
// Returns the status of the command, as waitpid() reports it; empty: no common observer, and the command has not begun.
std::optional<int> run_in_node(const observing_options& options, const std::vector<std::string>& command,
                               environment gained);

// Forks the process that observes all ranks of a job on one machine. `meeting`: the socket to which ranks connect. The
// process writes a report and ends after the last program. False: fork() failed.
bool start_node_observer(lib::descriptor meeting, const observing_options& options, const lib::launched_job& job);

}  // namespace adaptyst::tools

#endif
