/** Where Chromium is on this machine. */
import { existsSync } from "node:fs";

const paths = [
  process.env["CHROMIUM"],
  "/usr/bin/chromium",
  "/usr/bin/chromium-browser",
  "/usr/bin/google-chrome",
];

/** @throws Error that says how to get a browser */
export function findChromium(): string {
  const found = paths.find((path) => path !== undefined && existsSync(path));
  if (found !== undefined) return found;
  throw new Error(
    "These programs need Chromium. Install the package chromium, or set CHROMIUM to its path.",
  );
}
