#!/usr/bin/env node
/** The `ledge` program. */
import "./supported-node.ts";
import { root } from "./root.ts";
import { runCommand } from "./run.ts";

process.exitCode = await runCommand(root, process.argv.slice(2), {
  out: (text) => void process.stdout.write(`${text}\n`),
  error: (text) => void process.stderr.write(`${text}\n`),
});
