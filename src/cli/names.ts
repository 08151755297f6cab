/** `ledge run` and `ledge open`: a program and a browser for which names lead to the project. */
import { configOptions, persistOption, UsageError, type LeafCommand } from "./command.ts";

export const runProgram: LeafCommand = {
  name: "run",
  summary: "Runs a program for which names lead to the dev servers and zones of the project",
  details:
    "Names of zones, routes and public buckets lead to ledge dev, by http and https and at any port, and\n" +
    "the https_names of [dns] to the record API. All others lead where they lead without this command.\n" +
    "The program trusts the certificates. A proxy in the environment (HTTP_PROXY, HTTPS_PROXY) leads it,\n" +
    "and on Linux a hosts file that only the program sees, with the names that are known at the start.\n" +
    "Programs that ignore the proxy need the latter and port 443, which root may open; remarks say what\n" +
    "the system does not permit. The exit code is the program's.",
  arguments: [["COMMAND...", "The program and its arguments, after --"]],
  options: { ...configOptions, ...persistOption },
  examples: [
    "ledge run -- curl https://photos.example.com/",
    "ledge run -- git clone https://git.example.com/notes.git",
    "ledge run -- acme.sh --issue --dns dns_cf -d example.com",
  ],

  async run(invocation, ...words) {
    const [{ runInReach }, { readProject }, { readDnsConfig }, { findListeners }] =
      await Promise.all([
        import("./names/client-process.ts"),
        import("./dns/session.ts"),
        import("../dns/config/dns-config.ts"),
        import("../dns/server/zones-connection.ts"),
      ]);
    const { project, zones, stateFolder } = readProject(invocation);
    return runInReach(words, {
      stateFolder,
      zonesFolder: zones.folder,
      apiNames: readDnsConfig(zones.variables).httpsNames,
      start: () => findListeners(zones, project.dns),
    });
  },
};

/** The name of earlier versions. */
export const runClient: LeafCommand = {
  ...runProgram,
  summary: "Runs a client of the record API; the same as ledge run",
  details: "ledge run --help says more.",
  examples: ["ledge dns run -- curl https://api.cloudflare.com/client/v4/zones"],
};

export const openName: LeafCommand = {
  name: "open",
  summary: "Opens a name in a browser for which names lead to the dev servers of the project",
  details:
    "The browser is Chromium, Chrome or Edge with a temporary profile, which trusts the certificates of\n" +
    "this command for the names of zones, routes and public buckets. All other names lead to the\n" +
    "internet. The command ends with the browser, and an interrupt ends both.",
  arguments: [["NAME", "A name or a URL; a name is opened by https"]],
  options: {
    ...configOptions,
    ...persistOption,
    "--browser FILE": "The program of the browser (default: the first that the system has)",
  },
  examples: [
    "ledge open photos.example.com",
    "ledge open http://cdn.example.com/cat.jpg --browser /usr/bin/chromium",
  ],

  async run(invocation, name = "") {
    const text = /^https?:\/\//i.test(name) ? name : `https://${name}`;
    const url = URL.canParse(text) ? new URL(text) : null;
    if (url === null) throw new UsageError(`NAME must be a name or a URL, not "${name}".`);
    const [{ openInBrowser }, { readProject }] = await Promise.all([
      import("./names/browser.ts"),
      import("./dns/session.ts"),
    ]);
    const { stateFolder } = readProject(invocation);
    // A look-up of a name that the browser has wanted must not keep the process.
    process.exit(await openInBrowser(url, { stateFolder, browser: invocation.text("browser") }));
  },
};
