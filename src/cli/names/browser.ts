/**
 * A Chromium with a temporary profile, for which the names of the edge lead here. It asks a proxy of this process for
 * everything but loopback, and accepts what the authority of this process has certified, so that a page has no
 * warning and no system has to trust the authority.
 */
import { spawn, type ChildProcess, type SpawnOptions } from "node:child_process";
import { createHash, X509Certificate } from "node:crypto";
import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";
import { UserError } from "../../base/user-error.ts";
import type { EdgeMember } from "../../edge/core/edge-table.ts";
import { isEdgeName } from "../../edge/node/edge-names.ts";
import { openEntrance } from "../../edge/node/entrance-server.ts";
import { readMembers } from "../../edge/node/members.ts";
import { Authority } from "../../tls/authority.ts";
import { unrecognizedName } from "../../tls/client-hello.ts";
import { openConnectProxy } from "../../tls/connect-proxy.ts";
import { printRemark } from "../output.ts";
import { nextProxies, runChild } from "./client-process.ts";

/** @returns the exit code of the browser */
export async function openInBrowser(
  url: URL,
  { stateFolder, browser }: { readonly stateFolder: string; readonly browser: string | undefined },
): Promise<number> {
  const [member] = readMembers(stateFolder);
  if (member === undefined) {
    throw new UserError(`No dev server runs, so ${url.hostname} leads nowhere: start "ledge dev".`);
  }
  const program = browser ?? findBrowser(process.platform, process.env);
  if (program === null) {
    throw new UserError(
      "This system has no Chromium, Chrome or Edge where programs are. Install one, name its program with " +
        `--browser, or open ${localUrl(url, member)} in any browser.`,
    );
  }
  const leadsHere = (name: string): Promise<boolean> => isEdgeName(stateFolder, name);
  if (!(await leadsHere(url.hostname))) {
    printRemark(
      `No route, public bucket or zone has the name ${url.hostname}: it leads to the internet.`,
    );
  }
  const authority = Authority.temporary(new Date());
  const entrance = openEntrance({
    stateFolder,
    authority,
    serves: leadsHere,
    passOn: (client) => client.end(unrecognizedName),
    onMissing: printRemark,
  });
  const next = nextProxies(process.env);
  const proxy = await openConnectProxy({ leadsHere, server: entrance, next, isOpen: true });
  try {
    return await runChild((profile, run) => {
      const words = browserWords({
        profile,
        proxyUrl: proxy.url,
        certificate: authority.certificate,
        isRoot: process.getuid?.() === 0,
      });
      // A script may start the browser, so signals go to the group, which a terminal does not know.
      const options: SpawnOptions = { stdio: ["ignore", "ignore", "inherit"], detached: true };
      return run(program, () => spawn(program, [...words, url.href], options), endGroup);
    });
  } finally {
    await proxy.close();
    entrance.close();
  }
}

function endGroup(browser: ChildProcess, signal: NodeJS.Signals): void {
  if (process.platform === "win32" || browser.pid === undefined) browser.kill(signal);
  else process.kill(-browser.pid, signal);
}

/** The options of a browser that takes its names from the proxy. */
export function browserWords({
  profile,
  proxyUrl,
  certificate,
  isRoot,
}: {
  readonly profile: string;
  readonly proxyUrl: string;
  /** Of the authority. */
  readonly certificate: string;
  readonly isRoot: boolean;
}): string[] {
  const key = new X509Certificate(certificate).publicKey.export({ type: "spki", format: "der" });
  return [
    `--user-data-dir=${profile}`,
    `--proxy-server=${proxyUrl}`,
    `--ignore-certificate-errors-spki-list=${createHash("sha256").update(key).digest("base64")}`,
    "--no-first-run",
    "--no-default-browser-check",
    // Otherwise a bar warns of the option above in each window.
    "--test-type",
    // Chromium has no sandbox for root, and does not start without this word.
    ...(isRoot ? ["--no-sandbox"] : []),
  ];
}

const programs = [
  "chromium",
  "chromium-browser",
  "google-chrome",
  "google-chrome-stable",
  "microsoft-edge",
  "brave-browser",
];
const macPrograms = ["Google Chrome", "Chromium", "Microsoft Edge", "Brave Browser"];
/** `null` when the system has no browser where browsers are. */
export function findBrowser(
  platform: NodeJS.Platform,
  environment: Readonly<Record<string, string | undefined>>,
  exists: (path: string) => boolean = isProgram,
): string | null {
  const folders = (environment["PATH"] ?? "").split(delimiter).filter((folder) => folder !== "");
  const paths =
    platform === "darwin"
      ? macPrograms.map((name) => `/Applications/${name}.app/Contents/MacOS/${name}`)
      : programs.flatMap((name) => folders.map((folder) => join(folder, name)));
  return paths.find(exists) ?? null;
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** The address of the same page that needs no proxy. */
function localUrl({ hostname, pathname, search }: URL, { url }: EdgeMember): string {
  const { protocol, port } = new URL(url);
  return `${protocol}//${hostname}.localhost:${port}${pathname}${search}`;
}
