// A result file by a name from the user: a link or a pipe that stands there can neither redirect nor block the writer.
#ifndef ADAPTYST_LIB_SUPPORT_OUTPUT_FILE_HPP
#define ADAPTYST_LIB_SUPPORT_OUTPUT_FILE_HPP

#include <functional>
#include <string>
#include <string_view>

namespace adaptyst::lib {

// Notes what has this name now, as a process does when it starts: a file that another process has written there since
// is not replaced; then ours gets the host and the number of this process behind its name, with a warning. Without this,
// the time of the note is when the output is opened.
void expect_output(const std::string& name);

// The name under which the file was written last; `name`, but for the case above.
std::string find_written(const std::string& name);

// A file or a link that has the name is replaced by a new file, its owner's alone; the link is not followed. A device
// or a pipe is written to; for the reader of a pipe it waits up to 10 s. /dev/stdout, /dev/stderr and /dev/fd/N are our
// own descriptors. Numbers are those of <errno.h>.
class output_file {
 public:
  enum class appears {
    whole,      // in one step, when it is finished; else never: no reader and no full disk sees half a file
    with_text,  // when the first is written, so that what a killed program leaves can be read; gone after a failure
  };
  output_file(std::string name, appears when);
  ~output_file();
  output_file(const output_file&) = delete;
  output_file& operator=(const output_file&) = delete;

  // Why it could not be opened, or the first failure since; 0: none. After a failure nothing more is written.
  int failure() const noexcept { return failure_; }
  // How much of it was written: all, if there was no failure.
  std::size_t write(std::string_view text) noexcept;
  // Finishes the file: no more will be written.
  void finish() noexcept;

 private:
  void open_temporary();
  void appear() noexcept;
  void rename_to(const std::string& name) noexcept;
  void take_away() const noexcept;
  void open_in_place();
  void fail(int number) noexcept;
  bool wait_for_reader() noexcept;

  std::string name_, partial_;  // `partial_`: the temporary name, until the file is renamed
  appears when_;
  bool is_ours_ = false;  // the file that has the name
  int descriptor_ = -1;
  int failure_ = 0;
};

// Whether a file of this name would be made or replaced; false: it would be written to, as several processes may do.
bool is_replaced(const std::string& name);

// Why such a file could not be written as things stand; 0: it could. What is there stays as it is.
int why_not_writable(const std::string& name);

// The text as UTF-8, as programs want it: what is no character becomes U+FFFD, as in our JSON.
std::string valid_utf8(std::string_view text);

// The same at once, as valid UTF-8. Throws error.
void write_file(const std::string& name, const std::string& text);

// What takes a text piece by piece.
using text_taker = std::function<void(std::string_view piece)>;
// The same of a text that is made piece by piece. Throws error.
void write_file(const std::string& name, const std::function<void(const text_taker& to)>& make);

}  // namespace adaptyst::lib

#endif
