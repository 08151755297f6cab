/**
 * Dynamic DNS: a router reports its address, and the script updates the records of its name.
 *
 * The protocol is dyndns2, as in routers and ddclient: `GET /nic/update?hostname=&myip=` with basic
 * authentication, and one line in the answer for each name.
 */
import { authenticate, readAccounts } from "./account.ts";
import { updateHost } from "./records.ts";
import { parseUpdate } from "./update.ts";

export default {
  async fetch(request, env): Promise<Response> {
    const { pathname, searchParams } = new URL(request.url);
    if (pathname !== "/nic/update") return text(404, "Send updates to /nic/update?hostname=&myip=");
    if (request.method !== "GET") return text(405, "badagent", { allow: "GET" });

    const account = await authenticate(
      request.headers.get("authorization"),
      readAccounts(env.ACCOUNTS),
    );
    if (account === null) {
      return text(401, "badauth", { "www-authenticate": 'Basic realm="dynamic-dns"' });
    }
    const update = parseUpdate(searchParams, request.headers.get("cf-connecting-ip"));
    if (typeof update === "string") return text(400, update);

    const addresses = Object.values(update.addresses).join(",");
    const lines: string[] = [];
    for (const host of update.hosts) {
      const outcome = account.hosts.includes(host)
        ? await updateHost(env.DNS, host, update.addresses).catch(logError)
        : "nohost";
      lines.push(outcome === "good" || outcome === "nochg" ? `${outcome} ${addresses}` : outcome);
    }
    return text(200, lines.join("\n"));
  },
} satisfies ExportedHandler<Env>;

/** The protocol has one word for all DNS errors; the log contains the error itself. */
function logError(error: unknown): "dnserr" {
  console.error(error);
  return "dnserr";
}

function text(status: number, body: string, headers?: Record<string, string>): Response {
  return new Response(`${body}\n`, {
    status,
    headers: { "content-type": "text/plain", ...headers },
  });
}
