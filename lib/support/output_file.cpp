// Writes a result file so that a reader sees the old content or the new content, never a part. Pipes and devices cannot
// be replaced and are written in place.
#include "output_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <adaptyst/detail/clock.hpp>
#include <cerrno>
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <ctime>
#include <map>
#include <mutex>
#include <utility>

#include "descriptor.hpp"
#include "error.hpp"
#include "output_form.hpp"

namespace adaptyst::lib {

namespace {

constexpr int reader_comes_within_ms = 10'000;

// The open descriptor of this process for a name such as /dev/stdout; -1: another name.
int own_descriptor(std::string_view name) {
  if (name == "/dev/stdout") return STDOUT_FILENO;
  if (name == "/dev/stderr") return STDERR_FILENO;
  for (const std::string_view in : {"/dev/fd/", "/proc/self/fd/"}) {
    if (name.substr(0, in.size()) != in) continue;
    int number = -1;
    const auto [end, wrong] = std::from_chars(name.data() + in.size(), name.data() + name.size(), number);
    if (wrong == std::errc() && end == name.data() + name.size()) return number;
  }
  return -1;
}

// Writing to a pipe without a reader would end the program by SIGPIPE. This class blocks the signal in this thread, and
// removes it afterwards.
class no_sigpipe {
 public:
  no_sigpipe() {
    sigemptyset(&pipe_);
    sigaddset(&pipe_, SIGPIPE);
    sigset_t pending;
    sigpending(&pending);
    was_pending_ = sigismember(&pending, SIGPIPE) != 0;
    pthread_sigmask(SIG_BLOCK, &pipe_, &before_);
  }
  ~no_sigpipe() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  // Removes the signal of a write that failed with EPIPE. A signal from another process stays.
  void take_back() const {
    const timespec at_once{};
    if (!was_pending_) sigtimedwait(&pipe_, nullptr, &at_once);
  }
  no_sigpipe(const no_sigpipe&) = delete;
  no_sigpipe& operator=(const no_sigpipe&) = delete;

 private:
  sigset_t pipe_, before_;
  bool was_pending_ = false;
};

// The file behind a name, and the time of its last change. Read by opening the file, since a network file system may
// otherwise show an old state.
struct file_state {
  bool is_present = false;
  dev_t device = 0;
  ino_t inode = 0;
  std::int64_t changed_s = 0, changed_ns = 0;

  bool is_same_file(const file_state& b) const {
    return is_present == b.is_present && device == b.device && inode == b.inode;
  }
  bool is_unchanged(const file_state& b) const {
    return is_same_file(b) && changed_s == b.changed_s && changed_ns == b.changed_ns;
  }
};

file_state read_state(const std::string& name) {
  struct stat status {};
  if (lstat(name.c_str(), &status) != 0) return {};
  if (S_ISREG(status.st_mode)) {
    const descriptor opened(open(name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
    if (opened) fstat(opened.get(), &status);
  }
  return {true, status.st_dev, status.st_ino, status.st_mtim.tv_sec, status.st_mtim.tv_nsec};
}

// By name: the state when this process began, or after this process has written the file; and the other name, if the
// process has used one.
struct expected_output {
  file_state before;
  std::string written;
  bool is_own = false;  // `before` is a file of this process, which it may have written to since
};
std::mutex expected_mutex;
std::map<std::string, expected_output>& all_expected() {
  static auto& all = *new std::map<std::string, expected_output>;
  return all;
}

}  // namespace

void expect_output(const std::string& name) {
  const std::lock_guard lock(expected_mutex);
  all_expected()[name] = {};
  all_expected()[name].before = read_state(name);
}

std::string find_written(const std::string& name) {
  const std::lock_guard lock(expected_mutex);
  const auto entry = all_expected().find(name);
  return entry != all_expected().end() && !entry->second.written.empty() ? entry->second.written : name;
}

output_file::output_file(std::string name, appears when) : name_(std::move(name)), when_(when) {
  if (const int ours = own_descriptor(name_); ours >= 0) {
    descriptor_ = fcntl(ours, F_DUPFD_CLOEXEC, 3);
    if (descriptor_ < 0) fail(errno);
  } else if (is_replaced(name_)) {
    {
      const std::lock_guard lock(expected_mutex);
      if (all_expected().count(name_) == 0) all_expected()[name_].before = read_state(name_);
    }
    open_temporary();
  } else {
    open_in_place();
  }
}

output_file::~output_file() {
  if (descriptor_ >= 0) close(descriptor_);
  if (!partial_.empty()) unlink(partial_.c_str());
}

// Opens the file under a temporary name.
void output_file::open_temporary() {
  constexpr int max_attempts = 100;
  for (int attempt = 0; attempt != max_attempts && descriptor_ < 0; ++attempt) {
    partial_ = fmt::format("{}.{}.{}.partial", name_, getpid(), attempt);
    descriptor_ = open(partial_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);  // less the umask
    if (descriptor_ < 0 && errno != EEXIST) break;
  }
  if (descriptor_ >= 0) return;
  partial_.clear();  // it belongs to another process
  fail(errno);
}

void output_file::appear() noexcept {
  if (partial_.empty()) return;
  try {
    const std::lock_guard lock(expected_mutex);
    expected_output& expected = all_expected()[name_];
    const file_state now = read_state(name_);
    bool is_taken =
        now.is_present && !(expected.is_own ? now.is_same_file(expected.before) : now.is_unchanged(expected.before));
    if (!now.is_present && !expected.before.is_present) {
      // One step checks for a file and creates the link, also over a network. Some file systems lack links.
      if (link(partial_.c_str(), name_.c_str()) == 0) {
        unlink(std::exchange(partial_, {}).c_str());
        is_ours_ = true;
      } else {
        is_taken = errno == EEXIST;
      }
    }
    if (is_taken) {
      const bool is_known = !expected.written.empty();
      expected.written = with_number(name_, fmt::format("{}-{}", expand("%h"), getpid()));
      if (!is_known)
        complain(
            fmt::format("another process has written {} since this one began: written to {}\ngive each process "
                        "a name of its own: output=NAME-%h-%p",
                        name_, expected.written));
      name_ = expected.written;
    }
    if (!is_ours_) rename_to(name_);
    if (is_ours_ && !is_taken) expected = {read_state(name_), {}, true};
  } catch (const std::exception&) {  // no memory for a name
    fail(ENOMEM);
  }
}

void output_file::rename_to(const std::string& name) noexcept {
  if (std::rename(partial_.c_str(), name.c_str()) != 0) return fail(errno);
  partial_.clear();
  is_ours_ = true;
}

// Removes the part of the file that is visible, unless another file has the name now.
void output_file::take_away() const noexcept {
  struct stat ours {};
  struct stat there {};
  if (is_ours_ && when_ == appears::with_text && fstat(descriptor_, &ours) == 0 && lstat(name_.c_str(), &there) == 0 &&
      ours.st_dev == there.st_dev && ours.st_ino == there.st_ino)
    unlink(name_.c_str());
}

// A device such as /dev/full cannot be replaced, only written to. It is checked again after opening, so an attacker
// gains nothing by replacing it. Without O_NONBLOCK, a pipe without a reader would block.
void output_file::open_in_place() {
  descriptor_ = open(name_.c_str(), O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
  if (descriptor_ < 0) return fail(errno);
  struct stat opened {};
  if (fstat(descriptor_, &opened) != 0) return fail(errno);
  if (!S_ISCHR(opened.st_mode) && !S_ISFIFO(opened.st_mode)) fail(EINVAL);
}

void output_file::fail(int number) noexcept {
  if (failure_ == 0) failure_ = number;
  if (descriptor_ >= 0) take_away();
  if (descriptor_ >= 0) close(std::exchange(descriptor_, -1));
  if (!partial_.empty()) unlink(partial_.c_str());
  partial_.clear();
}

bool output_file::wait_for_reader() noexcept {
  const std::uint64_t until_ns = detail::monotonic_ns() + reader_comes_within_ms * std::uint64_t{1'000'000};
  for (;;) {
    pollfd room{descriptor_, POLLOUT, 0};
    if (const int ready = ::poll(&room, 1, reader_comes_within_ms); ready >= 0) return ready > 0;
    if (errno != EINTR || detail::monotonic_ns() > until_ns) return false;
  }
}

std::size_t output_file::write(std::string_view text) noexcept {
  if (when_ == appears::with_text && !text.empty()) appear();
  std::size_t done = 0;
  const no_sigpipe unharmed;
  while (descriptor_ >= 0 && done != text.size()) {
    const ssize_t wrote = ::write(descriptor_, text.data() + done, text.size() - done);
    if (wrote > 0) done += static_cast<std::size_t>(wrote);
    else if (wrote == 0) fail(EIO);
    else if (errno == EAGAIN && !wait_for_reader()) fail(ETIMEDOUT);
    else if (errno != EINTR && errno != EAGAIN) fail(errno);
  }
  if (failure_ == EPIPE) unharmed.take_back();
  return done;
}

void output_file::finish() noexcept {
  if (descriptor_ < 0) return;
  if (close(std::exchange(descriptor_, -1)) != 0) return fail(errno);
  appear();
}

bool is_replaced(const std::string& name) {
  struct stat there {};
  return own_descriptor(name) < 0 &&
         (lstat(name.c_str(), &there) != 0 || S_ISREG(there.st_mode) || S_ISLNK(there.st_mode));
}

// A pipe is not opened: closing it would signal the end of all output to its reader.
int why_not_writable(const std::string& name) {
  struct stat there {};
  if (own_descriptor(name) < 0 && lstat(name.c_str(), &there) == 0 && S_ISFIFO(there.st_mode))
    return access(name.c_str(), W_OK) == 0 ? 0 : errno;
  return output_file(name, output_file::appears::whole).failure();
}

namespace {

// The number of bytes of the character at `at`, and whether it is complete; else the number of bytes that could begin
// one.
std::pair<std::size_t, bool> measure_character(std::string_view text, std::size_t at) {
  const auto first = static_cast<unsigned char>(text[at]);
  if (first < 0x80) return {1, true};
  if (first < 0xc2 || first > 0xf4) return {1, false};
  const std::size_t all = first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
  for (std::size_t count = 1; count != all; ++count) {
    const unsigned next = at + count < text.size() ? static_cast<unsigned char>(text[at + count]) : 0U;
    // Refuses overlong forms, surrogates, and code points beyond U+10FFFF.
    const unsigned least = count != 1 ? 0x80 : first == 0xe0 ? 0xa0 : first == 0xf0 ? 0x90 : 0x80;
    const unsigned most = count != 1 ? 0xbf : first == 0xed ? 0x9f : first == 0xf4 ? 0x8f : 0xbf;
    if (next < least || next > most) return {count, false};
  }
  return {all, true};
}

}  // namespace

std::string valid_utf8(std::string_view text) {
  std::string made;
  std::size_t kept = 0;
  for (std::size_t at = 0; at < text.size();) {
    const auto [bytes, is_whole] = measure_character(text, at);
    if (!is_whole) {
      made.append(text.substr(kept, at - kept)).append("\xef\xbf\xbd");
      kept = at + bytes;
    }
    at += bytes;
  }
  return made.append(text.substr(kept));
}

void write_file(const std::string& name, const std::string& text) {
  write_file(name, [&](const text_taker& to) { to(valid_utf8(text)); });
}

void write_file(const std::string& name, const std::function<void(const text_taker& to)>& make) {
  output_file file(name, output_file::appears::whole);
  make([&](std::string_view piece) { file.write(piece); });
  file.finish();
  if (file.failure() == 0) return;
  throw error(fmt::format("cannot write the profile to {}", name), name, file.failure(),
              "the results are not lost if the table is on (report=table); choose another place with output=FILE.json");
}

}  // namespace adaptyst::lib
