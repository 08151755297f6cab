/** The record API over https: certificates, names, connections, and clients that insist on https. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { connect as connectHttp2, type OutgoingHttpHeaders } from "node:http2";
import { request } from "node:https";
import { join } from "node:path";
import { buffer, text } from "node:stream/consumers";
import { connect, type ConnectionOptions, type TLSSocket } from "node:tls";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { launchProblem } from "../../src/cli/names/client-process.ts";
import { sendRaw } from "../faults/support/raw-http.ts";
import { DnsProject, runDns } from "../support/dns-command.ts";
import { runInProcess } from "../support/in-process-command.ts";
import { credentials } from "./support/client.ts";
import { encodeQuery } from "./support/dns-client.ts";
import { useDns } from "./support/use.ts";

/** Neither this name nor any below `test` exists in the DNS of the Internet. */
const name = "api.fixed-host.test";
const cli = fileURLToPath(new URL("../../dist/cli.js", import.meta.url));

const running = await useDns({
  https_port: 0,
  https_names: [name],
  zones: [{ name: "example.org" }],
});
const port = Number(new URL(running.dns.httpsUrl!).port);
const authorityFolder = join(running.folder, ".wrangler/state/v3/dns/https");
const ca = readFileSync(join(authorityFolder, "authority.pem"), "utf8");

async function open(options: ConnectionOptions): Promise<TLSSocket> {
  const socket = connect({ port, host: "127.0.0.1", ca, ...options });
  await once(socket, "secureConnect");
  return socket;
}

/** The status of a request by Node's client. */
async function status(headers: Record<string, string>, servername = name): Promise<number> {
  const sent = request({
    port,
    host: "127.0.0.1",
    servername,
    ca,
    agent: false,
    path: "/client/v4/zones",
    headers: { ...credentials, ...headers },
  });
  sent.end();
  const [response] = (await once(sent, "response")) as [
    NodeJS.ReadableStream & { statusCode: number },
  ];
  await text(response);
  return response.statusCode;
}

describe("the port", () => {
  test("is printed below the port of http", () => {
    expect(running.dns.httpsUrl).toBe(`https://localhost:${port}/client/v4`);
    expect(running.lines[0]!.split("\n")).toContain(
      `  https    ${running.dns.httpsUrl} (ledge dns trust says how to trust it)`,
    );
  });

  test("answers a client that trusts the authority", async () => {
    expect(await status({ host: name })).toBe(200);
    expect(await status({ host: `localhost:${port}` }, "localhost")).toBe(200);
  });

  test("does not answer plain HTTP", async () => {
    expect((await sendRaw(port)).status).toBe("closed");
  });
});

describe("the certificate", () => {
  test.each([["localhost"], [name]])("is for the name %s", async (servername) => {
    const socket = await open({ servername });
    expect(socket.authorized).toBe(true);
    socket.destroy();
  });

  test("is for the address 127.0.0.1", async () => {
    const socket = await open({});
    expect(socket.getPeerCertificate().subjectaltname).toContain("IP Address:127.0.0.1");
    socket.destroy();
  });

  test("is for no other name, and is not trusted without the authority", async () => {
    await expect(open({ servername: "other.test" })).rejects.toThrow(/does not match/);
    await expect(open({ servername: name, ca: [] })).rejects.toThrow(
      /unable to verify|self-signed/,
    );
  });

  test("has its authority in files that only the user can read", () => {
    expect(statSync(authorityFolder).mode & 0o777).toBe(0o700);
    const files = readdirSync(authorityFolder);
    expect(files.sort()).toEqual(["authority.json", "authority.pem"]);
    for (const file of files) {
      expect(statSync(join(authorityFolder, file)).mode & 0o777, `the mode of ${file}`).toBe(0o600);
    }
  });
});

describe("requests", () => {
  test("are answered for the configured name over https only", async () => {
    const http = Number(new URL(running.dns.url).port);
    const reply = await sendRaw(http, {
      path: "/client/v4/zones",
      headers: { ...credentials, host: name },
    });
    expect(reply.status).toBe(403);
    expect(await status({ host: name })).toBe(200);
    expect(await status({ host: "other.test" })).toBe(403);
    expect(await status({ host: name, origin: "https://evil.example" })).toBe(403);
  });
});

/** The status and the body of a request on a session of its own. */
async function sendHttp2(
  origin: string,
  headers: OutgoingHttpHeaders,
  body?: Uint8Array,
): Promise<[status: number | undefined, body: Buffer]> {
  const session = connectHttp2(origin, { ca });
  try {
    const stream = session.request({ ":method": body ? "POST" : "GET", ...headers });
    stream.end(body);
    const [received] = (await once(stream, "response")) as [{ ":status"?: number }];
    return [received[":status"], await buffer(stream)];
  } finally {
    session.close();
  }
}

describe("HTTP/2", () => {
  const https = `https://localhost:${port}`;
  const http = new URL(running.dns.url).origin;
  const zonesPath = { ":path": "/client/v4/zones", ...credentials };

  test.each([https, http])("serves the record API and DNS over HTTPS at %s", async (origin) => {
    const [code, body] = await sendHttp2(origin, zonesPath);
    expect([code, JSON.parse(body.toString())]).toMatchObject([
      200,
      { result: [{ name: "example.org" }] },
    ]);
    const zoneId = JSON.parse(body.toString()).result[0].id as string;
    const record = { type: "TXT", name: "http2", content: `"${origin}"` };
    const path = `/client/v4/zones/${zoneId}/dns_records`;
    const json = { ...credentials, "content-type": "application/json", ":path": path };
    const [created] = await sendHttp2(origin, json, Buffer.from(JSON.stringify(record)));
    expect(created).toBe(200);
    const doh = { ":path": "/dns-query", "content-type": "application/dns-message" };
    const [answered, message] = await sendHttp2(
      origin,
      doh,
      encodeQuery("http2.example.org", "TXT"),
    );
    expect([answered, message.includes(origin)]).toEqual([200, true]);
  });

  test.each([https, http])("answers each of many requests without a body at %s", async (origin) => {
    const doh = { ":path": "/dns-query?name=example.org&type=NS", accept: "application/dns-json" };
    const session = connectHttp2(origin, { ca });
    const answered = async (index: number): Promise<number | undefined> => {
      const stream = session.request(index % 2 === 0 ? zonesPath : doh).end();
      const [received] = (await once(stream, "response")) as [{ ":status"?: number }];
      return (await buffer(stream)).length > 0 ? received[":status"] : undefined;
    };
    const codes = await Promise.all(Array.from({ length: 100 }, (_, index) => answered(index)));
    session.close();
    expect(new Set(codes)).toEqual(new Set([200]));
  });

  test("has the rules for hosts and origins of HTTP/1.1", async () => {
    const authority = (host: string) => ({ ...zonesPath, ":authority": host });
    expect((await sendHttp2(https, authority(name)))[0]).toBe(200);
    expect((await sendHttp2(http, authority(name)))[0]).toBe(403);
    expect((await sendHttp2(https, authority("other.test")))[0]).toBe(403);
    expect((await sendHttp2(https, { ...zonesPath, origin: "https://evil.example" }))[0]).toBe(403);
  });
});

test("ledge dns trust names the certificate of the server", async () => {
  const { code, out } = await runInProcess(running.folder, ["dns", "trust", "--json"]);
  expect(code).toBe(0);
  const { path, fingerprint, names, steps } = JSON.parse(out);
  expect(readFileSync(path, "utf8")).toBe(ca);
  expect(names).toEqual([name]);
  const socket = await open({ servername: name });
  const { issuerCertificate } = socket.getPeerCertificate(true);
  expect(issuerCertificate.fingerprint256).toBe(fingerprint);
  socket.destroy();
  const ids = steps.map(({ id }: { id: string }) => id);
  expect(ids).toEqual(expect.arrayContaining(["debian", "macos", "windows", "node", "java"]));
  const shown = await runInProcess(running.folder, ["dns", "trust"]);
  expect(shown.out).toContain(`export NODE_EXTRA_CA_CERTS='${path}'`);
});

const headers = JSON.stringify(credentials);
/** Programs for `node -e`, which print the names of the zones. */
const throughProxy = `
  const { request } = require("node:http");
  const { get } = require("node:https");
  const { hostname, port, username, password } = new URL(process.env.HTTPS_PROXY);
  const credentials = Buffer.from(username + ":" + password).toString("base64");
  const authorization = { "Proxy-Authorization": "Basic " + credentials };
  request({ hostname, port, method: "CONNECT", path: "${name}:443", headers: authorization })
    .on("connect", (_, socket) => {
      const options = { createConnection: () =>
        require("node:tls").connect({ socket, servername: "${name}" }), headers: ${headers} };
      get("https://${name}/client/v4/zones", options, print);
    })
    .end();
`;
const direct = `
  const { Agent, get } = require("node:https");
  const options = { agent: new Agent(), headers: ${headers} };
  get("https://${name}/client/v4/zones", options, print);
`;
const print = `
  function print(response) {
    response.setEncoding("utf8");
    let text = "";
    response.on("data", (piece) => (text += piece));
    response.on("end", () => console.log(JSON.parse(text).result.map(({ name }) => name).join()));
  }
`;

function runNode(folder: string, program: string) {
  return runDns(folder, ["run", "--", process.execPath, "-e", program]);
}

/** Whether the process may open port 443 and give a program a hosts file. */
const isMighty =
  process.getuid?.() === 0 &&
  launchProblem([{ source: "/etc/hosts", path: "/etc/hosts" }]) === null;

describe("ledge dns run", () => {
  test("leads a client to the running server by the proxy of the environment", async () => {
    const { code, out, error } = await runNode(running.folder, throughProxy + print);
    expect([code, out], `with errors ${error}`).toEqual([0, "example.org\n"]);
  });

  test.skipIf(!isMighty)("leads a client that ignores the proxy by a hosts file", async () => {
    const { code, out, error } = await runNode(running.folder, direct + print);
    expect([code, out, error]).toEqual([0, "example.org\n", ""]);
  });

  test("serves the zones while the command runs, if no other process does", async () => {
    const project = new DnsProject({ https_names: [name], zones: [{ name: "brief.example" }] });
    try {
      const { code, out, error } = await runNode(project.folder, throughProxy + print);
      expect([code, out], `with errors ${error}`).toEqual([0, "brief.example\n"]);
    } finally {
      project.remove();
    }
  });

  test("ends with the exit code of the command", async () => {
    expect((await runNode(running.folder, "process.exit(7)")).code).toBe(7);
    expect((await runDns(running.folder, ["run", "--", "no-such-program"])).code).toBe(127);
  });

  test("passes signals on", async () => {
    const program =
      "process.on('SIGTERM', () => process.exit(9)); setInterval(() => {}, 1000); console.log('up')";
    const words = [cli, "dns", "run", "--", process.execPath, "-e", program];
    const command = spawn(process.execPath, words, {
      cwd: running.folder,
      stdio: ["ignore", "pipe", "inherit"],
    });
    await once(command.stdout, "data");
    command.kill("SIGTERM");
    expect(await once(command, "exit")).toEqual([9, null]);
  });
});
