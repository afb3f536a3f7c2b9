// A result file with a name from the user: an existing link or pipe can neither redirect nor block the writer.
#ifndef ADAPTYST_LIB_SUPPORT_OUTPUT_FILE_HPP
#define ADAPTYST_LIB_SUPPORT_OUTPUT_FILE_HPP

#include <functional>
#include <string>
#include <string_view>

namespace adaptyst::lib {

// Notes the file that has this name now; called when a process starts. If another process writes the file afterwards,
// it is not replaced: then the host and the number of this process follow the name of the new file, with a warning.
// Without this call, the time of the note is when the output is opened.
void expect_output(const std::string& name);

// The name under which the file was last written: `name`, except in the above case.
std::string find_written(const std::string& name);

// A new file, readable only by its owner, replaces a file or a link of this name; the link is not followed. A device or
// a pipe is written to; the writer waits up to 10 s for the reader of a pipe. /dev/stdout, /dev/stderr and /dev/fd/N
// are descriptors of this process. Numbers are those of <errno.h>.
class output_file {
 public:
  enum class appears {
    whole,      // in one step, when it is finished; never after a failure: no reader and no full disk sees half a file
    with_text,  // with the first text, so that the output of a killed program can be read; removed after a failure
  };
  output_file(std::string name, appears when);
  ~output_file();
  output_file(const output_file&) = delete;
  output_file& operator=(const output_file&) = delete;

  // Why it could not be opened, or the first failure since; 0: none. After a failure, nothing more is written.
  int failure() const noexcept { return failure_; }
  // Returns the number of bytes written: all, if there was no failure.
  std::size_t write(std::string_view text) noexcept;
  // Finishes the file: no further write is allowed.
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
  bool is_ours_ = false;  // the file of this name
  int descriptor_ = -1;
  int failure_ = 0;
};

// Whether a file of this name would be created or replaced; false: written to, possibly by several processes.
bool is_replaced(const std::string& name);

// Why such a file cannot be written now; 0: it can. An existing file is not changed.
int why_not_writable(const std::string& name);

// The text as valid UTF-8: bytes that are no character become U+FFFD, as in JSON output.
std::string valid_utf8(std::string_view text);

// Writes a whole text as valid UTF-8. Throws error.
void write_file(const std::string& name, const std::string& text);

// Receives the pieces of a text.
using text_taker = std::function<void(std::string_view piece)>;
// Writes a text that is made piece by piece. Throws error.
void write_file(const std::string& name, const std::function<void(const text_taker& to)>& make);

}  // namespace adaptyst::lib

#endif
