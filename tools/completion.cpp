#include "help_text.hpp"

#include <memory>

#include "commands.hpp"
#include "output.hpp"
#include "value_checks.hpp"

namespace adaptyst::tools {

void add_completion(CLI::App& app) {
  CLI::App* const command = app.add_subcommand("completion", "Print a script that completes this command in a shell");
  command->group(heading::help);
  const auto shell = std::make_shared<std::string>();
  command->add_option("SHELL", *shell, "Shell")->required()->check(one_of({"bash", "zsh", "fish"}));
  command->footer(
      "$ source <(adaptyst completion bash)\n"
      "$ source <(adaptyst completion zsh)\n"
      "$ adaptyst completion fish | source\n"
      "\n"
      "The examples are for one session. An installed adaptyst has put the scripts where the shells find them. For zsh, "
      "run `compinit` first.\n"
      "\n"
      "Exit status: 0 success; 2 wrong usage.");
  command->callback([shell, &app] {
    if (*shell == "zsh") print(zsh_script(app));
    else if (*shell == "fish") print(fish_script(app));
    else print(bash_script(app));
  });
}

}  // namespace adaptyst::tools
