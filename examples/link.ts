/**
 * Makes `ledge` resolve inside of the examples, by the name that a project of your own uses.
 *
 * Each example is a package of its own, so it does not see the repository as `ledge` the way the
 * repository sees itself; it looks into `node_modules`, like everyone. `npm run build` puts two links
 * there: the package, and its command. Neither is in the lockfile, so `npm ci` is what it was.
 */
import { chmodSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const commands = join(root, "node_modules/.bin");
mkdirSync(commands, { recursive: true });

const packageLink = join(root, "node_modules/ledge");
rmSync(packageLink, { recursive: true, force: true });
// A junction is what Windows lets everyone make; elsewhere the type means nothing.
symlinkSync(root, packageLink, "junction");

const command = join(root, "dist/cli.js");
chmodSync(command, 0o755);
const commandLink = join(commands, "ledge");
rmSync(commandLink, { force: true });
if (process.platform === "win32") writeFileSync(`${commandLink}.cmd`, `@node "${command}" %*\r\n`);
else symlinkSync(command, commandLink);
