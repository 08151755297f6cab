/**
 * Makes the package name `ledge` resolve in the examples.
 *
 * Each example is a separate package, so Node looks for `ledge` in `node_modules`. `npm run build`
 * puts two links there: the package and its command. The lockfile does not contain the links, so
 * `npm ci` is not affected. The links are relative, so they also work in a copy of the repository.
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
  // On Windows, every user may create a junction. A junction needs an absolute path.
  symlinkSync(root, packageLink, "junction");
  writeFileSync(`${commandLink}.cmd`, '@node "%~dp0\\..\\..\\dist\\cli.js" %*\r\n');
} else {
  symlinkSync("..", packageLink);
  symlinkSync("../../dist/cli.js", commandLink);
}
