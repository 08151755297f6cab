/** `ledge completion`: the script with which a shell completes the words of a command line. */
import type { Command, LeafCommand } from "../command.ts";
import { UsageError } from "../command.ts";
import { bashScript } from "./bash-script.ts";
import { completedCommands } from "./completed-command.ts";
import { fishScript } from "./fish-script.ts";
import { zshScript } from "./zsh-script.ts";

const scripts = { bash: bashScript, zsh: zshScript, fish: fishScript };

/** @param root all commands, `completion` included */
export function completionOf(root: () => Command): LeafCommand {
  const shells = Object.keys(scripts);
  return {
    name: "completion",
    summary: "Prints a script with which a shell completes commands and options",
    details: "The first lines of the script say how to install it.",
    arguments: [{ name: "SHELL", summary: "bash, zsh or fish", choices: shells }],
    examples: ['eval "$(ledge completion bash)"', "ledge completion fish | source"],

    async run(invocation) {
      const [shell] = invocation.arguments as [string];
      const script = Object.entries(scripts).find(([name]) => name === shell)?.[1];
      if (script === undefined) {
        throw new UsageError(`SHELL must be bash, zsh or fish, not "${shell}".`);
      }
      process.stdout.write(`${script(await completedCommands(root()))}\n`);
    },
  };
}
