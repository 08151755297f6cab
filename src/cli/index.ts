#!/usr/bin/env -S node --
/**
 * The `ledge` program.
 *
 * Node looks for its own option `--env-file` among the arguments of a program, too: Node ends with
 * an error if the file is missing, and obeys NODE_OPTIONS in the file. `--` in the first line ends
 * that search.
 */
import "./supported-node.ts";
import { packageVersion } from "../base/package-version.ts";
import { watchOutput } from "./output.ts";
import { runLedge } from "./root.ts";

watchOutput();
const words = process.argv.slice(2);
if (words[0] === "--version" || words[0] === "-v") {
  process.stdout.write(`${packageVersion()}\n`);
} else {
  process.exitCode = await runLedge(words);
}
