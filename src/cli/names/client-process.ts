/**
 * A program as a child process, for which some names lead to this project: the hosts of the record API, and the
 * names of the edge (`edge/node/edge-names.ts`), of which the table is read at each connection.
 *
 * Two ways lead the program here, and each program takes at least one of them where it can:
 * - The proxy of its environment (`tls/connect-proxy.ts`). It needs no rights and no port 443.
 * - A hosts file of its own with an address of loopback, where this process listens at the ports 443 and 80. A
 *   client that ignores the proxy would otherwise call the deployed service with the keys of a test:
 *   so the hosts file is there also when port 443 is not. It has the names that are known at the start.
 *
 * The certificates of the edge's names are of an authority in the memory of this process, which the program
 * alone trusts. The authority of the folder, which a system may trust for years, can certify no such names.
 */
import { spawn, spawnSync, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { createServer, type Server, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ownSignals } from "../../dev/signals.ts";
import { ApiPort } from "../../dns/server/api-port.ts";
import { httpsSocketPath } from "../../dns/server/companion.ts";
import { openAuthority } from "../../dns/server/server-certificate.ts";
import { fixedNames, isEdgeName } from "../../edge/node/edge-names.ts";
import { openEntrance } from "../../edge/node/entrance-server.ts";
import { readMembers } from "../../edge/node/members.ts";
import { Authority, systemBundlePath, systemCertificates } from "../../tls/authority.ts";
import { unrecognizedName } from "../../tls/client-hello.ts";
import { openConnectProxy, parseProxy, type NextProxy } from "../../tls/connect-proxy.ts";
import { printRemark } from "../output.ts";
import { signalCode, withTemporaryPath } from "../run.ts";

interface Reach {
  readonly stateFolder: string;
  readonly zonesFolder: string;
  /** The hosts of the record API. */
  readonly apiNames: readonly string[];
  /** Serves the zones until `stop()`, if no other process does. */
  readonly start: () => Promise<{ stop?(): Promise<void> }>;
}

const hostsPath = "/etc/hosts";
const [httpsPort, httpPort] = [443, 80];
/** Addresses of loopback besides 127.0.0.1, at whose port 443 another server may listen. */
const hostsAddresses = Array.from({ length: 16 }, (_, index) => `127.0.0.${index + 2}`);
/** As shells report a command that does not exist, and one that is not a program. */
const [missingCode, unusableCode] = [127, 126];

/** Returns the exit code of the program. */
export async function runInReach(words: readonly string[], reach: Reach): Promise<number> {
  return runChild(async (folder, run) => {
    const server = await reach.start();
    try {
      return await withReach(folder, reach, (prefix, environment) => {
        const [program = "", ...rest] = prefix(words);
        return run(words[0] ?? "", () =>
          spawn(program, rest, { stdio: "inherit", env: environment }),
        );
      });
    } finally {
      await server.stop?.();
    }
  });
}

type Run = (
  name: string,
  start: () => ChildProcess,
  pass?: (child: ChildProcess, signal: NodeJS.Signals) => void,
) => Promise<number>;

/** A terminal sends its interrupt to the child, too, and programs count. */
function passSignal(child: ChildProcess, signal: NodeJS.Signals): void {
  if (signal !== "SIGINT" || !process.stdin.isTTY) child.kill(signal);
}

/** `work` runs one child process, which gets the signals of this process, in a temporary folder. */
export async function runChild(
  work: (temporaryFolder: string, run: Run) => Promise<number>,
): Promise<number> {
  let passOn: ((signal: NodeJS.Signals) => void) | null = null;
  let signalled: NodeJS.Signals | null = null;
  const release = ownSignals((signal) => {
    signalled ??= signal;
    passOn?.(signal);
  });
  try {
    const folder = mkdtempSync(join(tmpdir(), "ledge-run-"));
    return await withTemporaryPath(folder, () =>
      work(folder, async (name, start, pass = passSignal) => {
        if (signalled !== null) return signalCode(signalled);
        const child = start();
        passOn = (signal) => pass(child, signal);
        return exitCodeOf(child, name);
      }),
    );
  } finally {
    release();
  }
}

type Prefix = (words: readonly string[]) => readonly string[];

async function withReach(
  temporaryFolder: string,
  { stateFolder, zonesFolder, apiNames }: Reach,
  work: (prefix: Prefix, environment: NodeJS.ProcessEnv) => Promise<number>,
): Promise<number> {
  const apiAuthority = openAuthority(zonesFolder, apiNames);
  const api = ApiPort.unopened({
    target: httpsSocketPath(zonesFolder),
    identity: apiAuthority.certify(apiNames, new Date()),
  });
  const leadsToEdge = (name: string): Promise<boolean> => isEdgeName(stateFolder, name);
  const isApiName = (name: string): boolean => apiNames.includes(name);
  const authority = Authority.temporary(new Date());
  const entrance = openEntrance({
    stateFolder,
    authority,
    serves: async (name) => !isApiName(name) && leadsToEdge(name),
    passOn(client, name) {
      if (name === null || isApiName(name)) api.pass(client);
      else client.end(unrecognizedName);
    },
    onMissing: printRemark,
  });
  const serve = (client: Socket): void => entrance.serve(client);
  const proxy = await openConnectProxy({
    leadsHere: async (name) => isApiName(name) || leadsToEdge(name),
    server: entrance,
    next: nextProxies(process.env),
  });
  const bundlePath = join(temporaryFolder, "certificates.pem");
  const trusted = trustedFiles(process.env).map(readCertificates);
  const own = [apiAuthority.certificate, authority.certificate];
  writeFileSync(bundlePath, [systemCertificates(), ...trusted, ...own].join("\n"));
  const systemBundle = systemBundlePath();
  // For clients that read no variable.
  const bundles = systemBundle === null ? [] : [{ source: bundlePath, path: systemBundle }];
  const names = [...apiNames, ...fixedNames(readMembers(stateFolder))];
  const hosts = await openHosts(join(temporaryFolder, "hosts"), names, serve, bundles);
  try {
    return await work(
      hosts.prefix,
      clientEnvironment(process.env, { bundlePath, proxyUrl: proxy.url }),
    );
  } finally {
    for (const server of hosts.servers) server.close();
    await proxy.close();
    entrance.close();
    await api.close();
  }
}

function readCertificates(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    printRemark(`The client does not get the certificates of ${path}: ${(error as Error).message}`);
    return "";
  }
}

/** The hosts file of the client at `source`, and the servers at the ports 443 and 80 of its address. */
async function openHosts(
  source: string,
  names: readonly string[],
  serve: (client: Socket) => void,
  otherFiles: readonly PrivateFile[],
): Promise<{ readonly prefix: Prefix; readonly servers: readonly Server[] }> {
  const [first] = names;
  if (first === undefined) return { prefix: (words) => words, servers: [] };
  const files = [{ source, path: hostsPath }, ...otherFiles];
  writeFileSync(source, "");
  const problem = launchProblem(files);
  if (problem !== null) {
    printRemark(
      `A client that ignores HTTPS_PROXY calls the deployed host ${first}: this system gives no ` +
        `program a hosts file of its own (${problem}).`,
    );
    return { prefix: (words) => words, servers: [] };
  }
  const { servers, address, code } = await listenAtHttps(serve);
  if (code !== undefined) {
    printRemark(
      `A client that ignores HTTPS_PROXY cannot connect to ${first}: port ${httpsPort} cannot be ` +
        `opened (${code}). Run this command as root, or let all users open the port: ` +
        `sysctl net.ipv4.ip_unprivileged_port_start=${httpsPort}`,
    );
  }
  writeFileSync(source, hostsText(readFileSync(hostsPath, "utf8"), address, names));
  return { prefix: (words) => launchWords(words, files, currentUser()), servers };
}

/** Listens at the first free address. `code` says why there is no server of https. */
async function listenAtHttps(
  serve: (client: Socket) => void,
): Promise<{ servers: Server[]; address: string; code?: string }> {
  let address = "";
  let code: string | undefined;
  const listen = async (port: number): Promise<Server> => {
    const server = createServer({ noDelay: true }, serve).listen(port, address);
    await once(server, "listening");
    return server;
  };
  for (address of hostsAddresses) {
    try {
      const servers = [await listen(httpsPort)];
      // Programs that insist on http are rare.
      servers.push(
        ...(await listen(httpPort).then(
          (server) => [server],
          () => [],
        )),
      );
      return { servers, address };
    } catch (error) {
      ({ code } = error as NodeJS.ErrnoException);
      if (code !== "EADDRINUSE") break;
    }
  }
  return { servers: [], address, code };
}

async function exitCodeOf(child: ChildProcess, program: string): Promise<number> {
  try {
    const [code, signal] = (await once(child, "exit")) as [number | null, NodeJS.Signals | null];
    return signal === null ? (code ?? 0) : signalCode(signal);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    printRemark(`Cannot run "${program}": ${message}.`);
    return code === "ENOENT" ? missingCode : unusableCode;
  }
}

type Environment = Readonly<Record<string, string | undefined>>;

/** Variables with a file of authorities that a program trusts: OpenSSL and Go, Python, curl, git, Node. */
const bundleVariables = [
  "SSL_CERT_FILE",
  "REQUESTS_CA_BUNDLE",
  "CURL_CA_BUNDLE",
  "GIT_SSL_CAINFO",
  "NODE_EXTRA_CA_CERTS",
];
/** Programs read the names in capital or in small letters; curl reads both, for http only the small. */
const proxyVariables = {
  http: ["http_proxy", "HTTP_PROXY"],
  https: ["HTTPS_PROXY", "https_proxy"],
};
const directVariables = ["NO_PROXY", "no_proxy"];
const loopbackHosts = ["localhost", "127.0.0.1", "::1"];

/** The files of authorities that the environment names: the client goes on to trust them. */
export function trustedFiles(environment: Environment): string[] {
  const named = bundleVariables.map((name) => environment[name] ?? "");
  return [...new Set(named)].filter((path) => path !== "");
}

/** The proxies that the environment names. */
export function nextProxies(environment: Environment): Record<"http" | "https", NextProxy | null> {
  const find = (names: readonly string[]): NextProxy | null =>
    parseProxy(names.map((name) => environment[name]).find((value) => value !== undefined));
  return { http: find(proxyVariables.http), https: find(proxyVariables.https) };
}

export function clientEnvironment(
  environment: Environment,
  { bundlePath, proxyUrl }: { bundlePath: string; proxyUrl: string },
): Record<string, string | undefined> {
  const variables = [
    ...bundleVariables.map((name) => [name, bundlePath]),
    ...Object.values(proxyVariables).flatMap((names) => names.map((name) => [name, proxyUrl])),
    // Servers on loopback, such as an ACME server in a test, need no proxy.
    ...directVariables.map((name) => [name, directHosts(environment[name])]),
  ];
  // Node reads the other variables only with the last one.
  return { ...environment, ...Object.fromEntries(variables), NODE_USE_ENV_PROXY: "1" };
}

function directHosts(given = ""): string {
  const hosts = given.split(",").map((host) => host.trim());
  return [...new Set([...hosts.filter((host) => host !== ""), ...loopbackHosts])].join(",");
}

/**
 * Files of the system that look different to one program: on Linux a program can have mounts of
 * its own. The user root needs nothing else for that. Any other user gets the right to mount in a
 * user namespace, where the user is root, and a second one in which the program has the user's own
 * id again and no rights. Systems may forbid user namespaces, and containers often do.
 *
 * Each step replaces its process by the next (exec), so signals and the exit code are those of the
 * program.
 */
interface PrivateFile {
  /** What the program sees. */
  readonly source: string;
  /** The path of the system, which exists. */
  readonly path: string;
}

type User = Readonly<Record<"userId" | "groupId", number>>;

const mountAll =
  'while [ "$1" != -- ]; do mount --bind "$1" "$2" || exit 125; shift 2; done; shift; exec "$@"';

/** The command that runs `words` with the files. */
export function launchWords(
  words: readonly string[],
  files: readonly PrivateFile[],
  { userId, groupId }: User,
): string[] {
  const mounts = files.flatMap(({ source, path }) => [source, path]);
  const inside = ["sh", "-c", mountAll, "sh", ...mounts, "--"];
  if (userId === 0) return ["unshare", "--mount", "--", ...inside, ...words];
  const asRoot = ["unshare", "--user", "--map-root-user", "--mount", "--"];
  const asUser = ["unshare", "--user", `--map-user=${userId}`, `--map-group=${groupId}`, "--"];
  return [...asRoot, ...inside, ...asUser, ...words];
}

/** Why the system does not let a program have such files; `null` if it does. */
export function launchProblem(files: readonly PrivateFile[]): string | null {
  if (process.platform !== "linux") return "only Linux has mounts for one program";
  const [program = "", ...rest] = launchWords(["true"], files, currentUser());
  const { error, status, stderr } = spawnSync(program, rest, { encoding: "utf8" });
  if (error !== undefined) return `"unshare" does not start (${error.message})`;
  if (status === 0) return null;
  return stderr.trim().split("\n").at(-1) || `"unshare" ended with code ${status}`;
}

function currentUser(): User {
  return { userId: process.getuid?.() ?? 0, groupId: process.getgid?.() ?? 0 };
}

/** A hosts file in which the names have one address. The first line with a name counts. */
export function hostsText(original: string, address: string, names: readonly string[]): string {
  return `${names.map((name) => `${address} ${name}\n`).join("")}${original}`;
}
