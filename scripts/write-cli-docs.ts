/** Writes the reference in docs/cli.md from the descriptions of the commands. */
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { withReference } from "../src/cli/help.ts";
import { root } from "../src/cli/root.ts";

const page = new URL("../docs/cli.md", import.meta.url);
writeFileSync(page, await withReference(readFileSync(page, "utf8"), root));
execFileSync("npx", ["oxfmt", "--write", fileURLToPath(page)]);
