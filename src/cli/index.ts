#!/usr/bin/env node
/** `ledge`: the command line. */
import { root } from "./root.ts";
import { runCommand } from "./run.ts";

process.exitCode = await runCommand(root, process.argv.slice(2), {
  out: (text) => void process.stdout.write(`${text}\n`),
  error: (text) => void process.stderr.write(`${text}\n`),
});
