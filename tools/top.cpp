// `adaptyst top`: shows the current activity of processes, refreshes it, and reacts to keys.
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "choosing_processes.hpp"
#include "commands.hpp"
#include "discover/process_objects.hpp"
#include "metrics_server.hpp"
#include "observing.hpp"
#include "output.hpp"
#include "report/activity_table.hpp"
#include "session/observer.hpp"
#include "support/repeating_timer.hpp"
#include "support/text.hpp"
#include "terminal.hpp"
#include "value_checks.hpp"

namespace adaptyst::tools {

namespace {

struct top_options {
  observing_options observing;
  process_choice choice;
  double duration = 0;
  std::size_t rows = 20;
  bool other_users = false;
  std::string listen;  // address for Prometheus; empty: none
};

using clock = std::chrono::steady_clock;

constexpr double never = 1e9;  // seconds

double cpu_time_ns() {
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  const auto ns = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) * 1e9 + static_cast<double>(time.tv_usec) * 1e3;
  };
  return ns(used.ru_utime) + ns(used.ru_stime);
}

// The last profile as the text that Prometheus reads. A text is made at most once for each profile, so that many
// requests cost no more than few.
class offered_metrics {
 public:
  void offer(profile&& latest) {
    latest_ = std::move(latest);
    texts_[0].clear();
    texts_[1].clear();
  }
  const std::string& text(lib::metrics_syntax syntax) {
    std::string& made = texts_[syntax == lib::metrics_syntax::text ? 0 : 1];
    if (made.empty()) made = lib::to_metrics(latest_, syntax, listed_);
    return made;
  }

 private:
  profile latest_;
  lib::metrics_regions listed_;
  std::string texts_[2];
};

// Signals and keys.
class commands {
 public:
  enum class kind { none, redraw, sort, suspend, end };

  commands() {
    sigset_t ours;
    sigemptyset(&ours);
    for (const int signal_number : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGWINCH}) sigaddset(&ours, signal_number);
    // The other screen must be left before the shell writes.
    if (terminal::is_present()) sigaddset(&ours, SIGTSTP);
    sigprocmask(SIG_BLOCK, &ours, nullptr);
    signals_ = signalfd(-1, &ours, SFD_CLOEXEC | SFD_NONBLOCK);
    signal(SIGPIPE, SIG_IGN);  // markers must become idle also if the reader of the output has ended
  }
  ~commands() { close(signals_); }
  commands(const commands&) = delete;
  commands& operator=(const commands&) = delete;

  std::vector<int> descriptors(terminal* screen) const { return {signals_, screen != nullptr ? screen->keys() : -1}; }
  // Reads the input that is there, without waiting.
  kind take(terminal* screen) const {
    pollfd event{screen != nullptr ? screen->keys() : -1, POLLIN, 0};
    if (::poll(&event, 1, 0) > 0) {
      const std::string keys = screen->pressed();
      if (keys.find('q') != std::string::npos) return kind::end;
      if (keys.find('s') != std::string::npos) return kind::sort;
    }
    signalfd_siginfo signal;
    if (read(signals_, &signal, sizeof signal) != static_cast<ssize_t>(sizeof signal)) return kind::none;
    switch (signal.ssi_signo) {
      case SIGWINCH: return kind::redraw;
      case SIGTSTP: return kind::suspend;
      default: return kind::end;
    }
  }

 private:
  int signals_;
};

class live_view {
 public:
  explicit live_view(const top_options& options)
      : options_(options),
        watching_(without_timers(options.observing.chosen_options()), options.choice.only(), open_timeline),
        chosen_(watching_, options.choice, [this](const error& what) { note(what); }) {}

  void run() {
    allow_many_files();
    if (!options_.listen.empty()) {
      server_.emplace(options_.listen, [this](lib::metrics_syntax syntax) { return offered_.text(syntax); });
      lib::complain("Prometheus reads " + server_->url());
    }
    chosen_.attach_first();
    if (chosen_.attached() == 0 && !options_.choice.all) end_with(bad_input);
    watching_.drop_capabilities();
    update();
    if (terminal::is_present()) screen_.emplace();
    if (screen_) show();
    lib::repeating_timer all(options_.duration > 0 ? options_.duration : 1e9), refresh(options_.observing.seconds);
    // update() reads the recorders; run() reads the rings of a timeline.
    std::vector<int> wakers = commands_.descriptors(screen());
    if (server_) wakers.push_back(server_->descriptor());
    watching_.run(never, wakers, [&]() -> std::optional<int> {
      if (server_) server_->answer();
      const commands::kind command = commands_.take(screen());
      if (command == commands::kind::end || all.is_over()) return {};
      if (command == commands::kind::suspend) suspend();
      if (command == commands::kind::sort) order_ = next(order_);
      if (command != commands::kind::none && screen_) show();
      const bool ended = !options_.choice.all && watching_.running() == 0;
      if (ended || refresh.is_over()) {
        chosen_.attach_new();
        update();
        if (!show() || (ended && watching_.running() == 0)) return {};
      }
      return std::min({refresh.left_ms(), all.left_ms(), 100});
    });
    if (screen_) {  // the last figures stay visible
      screen_.reset();
      show();
    }
    for (const error& note : notes_) report_error(note);
    watching_.stop();
  }

 private:
  terminal* screen() { return screen_ ? &*screen_ : nullptr; }

  // Shows a message at the lower edge of the screen, and again after the screen is left.
  void note(const error& what) {
    if (screen_) notes_.push_back(what);
    else report_error(what);
  }

  void update() {
    const clock::time_point now = clock::now();
    const double cpu_ns = cpu_time_ns();
    const double wall_ns = std::chrono::duration<double, std::nano>(now - last_).count();
    activity seen = meter_.next(watching_.changes(), wall_ns);
    for (active_region& row : seen.regions) row.processes = watching_.find_processes(row.id);
    add_idle(seen, latest_);
    latest_ = std::move(seen);
    if (latest_.wall_ns > 0) own_cpu_ = (cpu_ns - last_cpu_ns_) / wall_ns;
    last_ = now;
    last_cpu_ns_ = cpu_ns;
    if (server_) offered_.offer(watching_.snapshot());
  }

  bool show() {
    activity_view how;
    how.regions = options_.rows;
    how.observer_cpu = own_cpu_;
    how.has_colour = lib::has_colour(STDOUT_FILENO);
    if (!screen_) {
      print(to_table(latest_, how) + "\n");
      return std::fflush(stdout) == 0;
    }
    const terminal::extent size = screen_->size();
    how.columns = size.columns;
    const std::size_t below = notes_.empty() ? 1 : 2;  // lines
    how.lines = size.lines > below ? size.lines - below : 1;
    how.regions = size.lines;
    how.order = order_;
    std::string shown = to_table(latest_, how);
    shown += lib::format_line(fmt::format("q quit   s sort (now by {})", order_name(order_)), size.columns);
    if (!notes_.empty()) shown += lib::format_line(notes_.back().summary(), size.columns);
    return screen_->show(shown);
  }

  static const char* order_name(activity_order order) {
    switch (order) {
      case activity_order::total: return "TOTAL";
      case activity_order::rate: return "PER S";
      case activity_order::so_far: return "SO FAR";
      default: return "SELF";
    }
  }
  static activity_order next(activity_order order) {
    return order == activity_order::so_far ? activity_order::self
                                           : static_cast<activity_order>(static_cast<int>(order) + 1);
  }

  void suspend() {
    screen_->leave();
    raise(SIGSTOP);
    screen_->enter();
  }

  const top_options& options_;
  // Before the observer, so that signals are blocked before any marker is enabled.
  commands commands_;
  std::optional<terminal> screen_;
  std::vector<error> notes_;
  observer watching_;
  chosen_processes chosen_;
  activity_meter meter_;
  offered_metrics offered_;
  std::optional<metrics_server> server_;
  activity latest_;
  activity_order order_ = activity_order::self;
  std::optional<double> own_cpu_;
  clock::time_point last_;
  double last_cpu_ns_ = 0;
};

void top(top_options& options) {
  options.choice.other_users = options.other_users;
  options.choice.all = options.choice.processes.empty() && options.choice.name.empty();
  // There is no column for the context of regions, but a process without markers has only context.
  lib::file_cache files;
  context_choice& context = options.observing.options.context;
  for (const std::int64_t process : options.choice.processes)
    context.cpu = context.cpu || !lib::has_objects(static_cast<pid_t>(process), files);
  live_view(options).run();
}

}  // namespace

void add_top(CLI::App& app) {
  const auto options = std::make_shared<top_options>();
  options->observing.options.report = report_choice::none;
  options->observing.options.context = {false, false, false, false, true};  // there is no column for it
  CLI::App* const command = app.add_subcommand("top", "Show the regions of running programs, refreshed each second");
  command->group(heading::observe);
  add_choice(*command, options->choice);
  command->add_flag("--all", options->other_users, "Without a process: also those of other users, for root");
  command->add_option("--rows", options->rows, "Regions to show, if standard output is not a terminal")
      ->capture_default_str()
      ->check(whole_number(1, 10000))
      ->type_name("N");
  add_duration(*command, options->duration);
  command
      ->add_option("--listen", options->listen,
                   "Answer Prometheus at this address, on the loopback interface if only PORT is given; 0: a free port")
      ->check(CLI::Validator([](std::string& address) { return complaint_on_address(address); }, ""))
      ->type_name("[ADDRESS:]PORT");
  add_observing(*command, options->observing, "Time between two refreshes, in seconds or with a unit");
  command->footer(
      "$ adaptyst top\n"
      "$ adaptyst top --interval 500ms 4711\n"
      "$ adaptyst top --duration 1min >regions.txt\n"
      "$ adaptyst top --listen 9464 >/dev/null\n"
      "\n"
      "Without a process, `top` observes all processes with markers of this user, and under sudo those of the user who "
      "called sudo. It finds new processes within the interval, or within a minute if they load a library with markers "
      "later. Key `q` or ^C ends it; key `s` sorts by the next column. If standard output is not a terminal, each "
      "refresh is printed as text.\n"
      "\n"
      "Figures are those of the last interval: ended events per second; self and total time as shares of the interval, "
      "above 100 % with several threads; mean and 99th percentile of the durations. `SO FAR` is the total time since "
      "the beginning. A region counts when it ends, with its whole duration. Regions that have not ended since the last "
      "refresh remain visible. `PROCESS` shows one process that runs the region; +3: and three others. Use of a device "
      "is that by all processes together.\n"
      "\n"
      "With `--listen`, Prometheus reads /metrics: sums since the beginning, as of the last refresh (docs/formats.md).\n"
      "\n"
      "Exit status: 0 success; 2 wrong usage, or no process could be observed.");
  command->callback([options] { top(*options); });
}

}  // namespace adaptyst::tools
