/** The environment in which a client trusts the local authority and reaches its names by a proxy. */

export type Environment = Readonly<Record<string, string | undefined>>;

/** Variables with a file of all authorities that a program trusts: OpenSSL and Go, Python, curl. */
const bundleVariables = ["SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE"];
/** The variable with a file of authorities that Node trusts besides its own. */
const extraVariable = "NODE_EXTRA_CA_CERTS";
/** Programs read the names in capital or in small letters; curl reads both. */
const proxyVariables = ["HTTPS_PROXY", "https_proxy"];
const directVariables = ["NO_PROXY", "no_proxy"];
const loopbackHosts = ["localhost", "127.0.0.1", "::1"];

/** The files of authorities that the environment names: the client goes on to trust them. */
export function trustedFiles(environment: Environment): string[] {
  const named = [...bundleVariables, extraVariable].map((name) => environment[name] ?? "");
  return [...new Set(named)].filter((path) => path !== "");
}

/** The proxy of https that the environment names. */
export function proxyOf(environment: Environment): string | undefined {
  return proxyVariables.map((name) => environment[name]).find((value) => value !== undefined);
}

/**
 * @param bundlePath a file with all authorities
 * @param proxyUrl the proxy that leads the names here
 */
export function clientEnvironment(
  environment: Environment,
  { bundlePath, proxyUrl }: { bundlePath: string; proxyUrl: string },
): Record<string, string | undefined> {
  return {
    ...environment,
    ...variables([...bundleVariables, extraVariable], () => bundlePath),
    ...variables(proxyVariables, () => proxyUrl),
    // Servers on loopback, such as an ACME server in a test, need no proxy.
    ...variables(directVariables, (name) => directHosts(environment[name])),
    // Node reads the other variables only with this one.
    NODE_USE_ENV_PROXY: "1",
  };
}

function variables(
  names: readonly string[],
  value: (name: string) => string,
): Record<string, string> {
  return Object.fromEntries(names.map((name) => [name, value(name)]));
}

function directHosts(given = ""): string {
  const hosts = given.split(",").map((host) => host.trim());
  return [...new Set([...hosts.filter((host) => host !== ""), ...loopbackHosts])].join(",");
}
