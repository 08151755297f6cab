/** Where Chromium is on this machine. */
import { existsSync } from "node:fs";

const paths = [
  process.env["CHROMIUM"],
  // The same engine without windows, which takes a third of the processor's time.
  "/usr/bin/chromium-headless-shell",
  "/usr/bin/chromium",
  "/usr/bin/chromium-browser",
  "/usr/bin/google-chrome",
];

/** @throws Error that says how to get a browser */
export function findChromium(): string {
  const found = paths.find((path) => path !== undefined && existsSync(path));
  if (found !== undefined) return found;
  throw new Error(
    "These programs need Chromium. Install the package chromium-headless-shell, or set CHROMIUM to its path.",
  );
}
