/**
 * Makes `ledge` resolve inside of the examples, by the name that a project of your own uses.
 *
 * Each example is a package of its own, so it does not see the repository as `ledge` the way the
 * repository sees itself; it looks into `node_modules`, like everyone. `npm run build` puts two links
 * there: the package, and its command. Neither is in the lockfile, so `npm ci` is what it was. The
 * links are relative: a copy of the repository has links into itself.
 */
import { chmodSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const commands = join(root, "node_modules/.bin");
const packageLink = join(root, "node_modules/ledge");
const commandLink = join(commands, "ledge");

mkdirSync(commands, { recursive: true });
for (const link of [packageLink, commandLink]) rmSync(link, { recursive: true, force: true });
chmodSync(join(root, "dist/cli.js"), 0o755);

if (process.platform === "win32") {
  // A junction is the link that everyone may make there; it wants the whole path.
  symlinkSync(root, packageLink, "junction");
  writeFileSync(`${commandLink}.cmd`, '@node "%~dp0\\..\\..\\dist\\cli.js" %*\r\n');
} else {
  symlinkSync("..", packageLink);
  symlinkSync("../../dist/cli.js", commandLink);
}
