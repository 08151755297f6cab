/**
 * A bucket on an S3 service by https, with a certificate of an authority of one's own: from a tool in
 * Node, from `ledge dev`, and from `ledge build` in workerd. `NODE_EXTRA_CA_CERTS` names the authority.
 */
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { connect, type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createServer } from "node:tls";
import { afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { ledgeDev } from "../support/dev-process.ts";
import { build, serve, type EdgeBuild } from "../support/edge-runtime.ts";
import { makePrivateAuthority } from "../support/private-authority.ts";
import { run, temporaryProject } from "../support/project.ts";
import { clusterKeys as keys, startCluster } from "../support/remote-service.ts";

const script = `
export default {
  async fetch(request, { PHOTOS }) {
    const key = new URL(request.url).pathname.slice(1);
    try {
      if (request.method === "PUT") return Response.json((await PHOTOS.put(key, request.body)).size);
      return new Response((await PHOTOS.get(key)).body);
    } catch (error) {
      return new Response(error.message, { status: 500 });
    }
  },
};
`;

let endpoint: string;
let certificatePath: string;

beforeAll(async () => {
  const folder = mkdtempSync(join(tmpdir(), "ledge-test-"));
  const server = await startCluster(join(folder, "state"));
  const authority = makePrivateAuthority();
  certificatePath = join(folder, "authority.pem");
  writeFileSync(certificatePath, authority.certificate);
  // As a load balancer before a cluster: TLS ends here.
  const front = createServer(authority.server, (client) => {
    const service = connect(server.port, "127.0.0.1");
    client.pipe(service).pipe(client);
    client.on("error", () => service.destroy());
    service.on("error", () => client.destroy());
  });
  front.on("tlsClientError", () => {});
  front.listen(0, "127.0.0.1");
  await once(front, "listening");
  endpoint = `https://localhost:${(front.address() as AddressInfo).port}`;
  return async () => {
    await new Promise((resolve) => front.close(resolve));
    await server.close();
    rmSync(folder, { recursive: true, force: true });
  };
});

beforeEach(() => {
  vi.stubEnv("NODE_EXTRA_CA_CERTS", certificatePath);
  for (const [name, value] of Object.entries(keys)) vi.stubEnv(name, value);
});
afterEach(() => vi.unstubAllEnvs());

function project(): string {
  return temporaryProject({
    "index.js": script,
    "note.txt": "from Node",
    "wrangler.json": JSON.stringify({
      name: "photos",
      main: "index.js",
      compatibility_date: "2026-08-01",
      store_buckets: [{ binding: "PHOTOS", bucket_name: "photos", remote: "cluster" }],
      remotes: { cluster: { endpoint } },
    }),
  });
}

const contents = ["small", "waits in the spool ".repeat(300_000)];

/** Writes and reads each of the contents. */
async function roundTrips(send: (path: string, init?: RequestInit) => Promise<Response>) {
  const read: string[] = [];
  for (const body of contents) {
    await send("key", { method: "PUT", body });
    read.push(await (await send("key")).text());
  }
  return read;
}

/** The whole content would fill the terminal. */
const short = (texts: string[]) => texts.map((text) => `${text.slice(0, 200)} ${text.length}`);

describe("a service with a certificate of a private authority", () => {
  it("is used by tools in Node", async () => {
    const folder = project();
    const put = await run(folder, "ledge", "store", "put", "photos/note", "note.txt");
    expect([put.code, put.error]).toEqual([0, ""]);
    const got = await run(folder, "ledge", "store", "get", "photos/note", "-");
    expect(got.out).toBe("from Node");
  });

  it("is used by ledge dev", async () => {
    const url = await ledgeDev(project()).url();
    const read = await roundTrips((path, init) => fetch(new URL(path, url), init));
    expect(short(read)).toEqual(short(contents));
  });

  it("is used by workerd with a build, which has the certificate", async () => {
    // Node reads the variable at its start only.
    const built = await run(project(), "ledge", "build", "--json");
    expect([built.code, built.error]).toEqual([0, ""]);
    const made = JSON.parse(built.out) as EdgeBuild;
    const text = readFileSync(join(made.folder, "workerd.capnp"), "utf8");
    expect(text).toContain("trustedCertificates");
    // The environment names no certificate.
    const runtime = await serve(made, keys);
    expect(short(await roundTrips(runtime.fetch))).toEqual(short(contents));
  });
});

describe("a service with a certificate that is not trusted", () => {
  beforeEach(() => vi.stubEnv("NODE_EXTRA_CA_CERTS", undefined));

  it("is refused by tools, ledge dev and ledge build, with a sentence that says what to do", async () => {
    const folder = project();
    // Node adds advice of its own to the reason.
    const sentence =
      /The remote "cluster" \(\S+\) has a certificate that is not trusted: unable to verify the first certificate.*\. Use a certificate that this machine trusts, or .*NODE_EXTRA_CA_CERTS\)\.$/m;
    for (const words of [["store", "list", "photos"], ["build"]]) {
      const { code, error } = await run(folder, "ledge", ...words);
      expect(code).toBe(1);
      expect(error).toMatch(sentence);
    }
    await ledgeDev(folder).waitForOutput(sentence);
  });

  it("is refused by workerd with a build that has no certificate", async () => {
    const runtime = await serve(await build(project(), "--no-probe"), keys);
    const answer = await runtime.fetch("key");
    expect(answer.status).toBe(500);
    expect(await answer.text()).toContain(
      `The remote "cluster" (${endpoint}) gave no answer: the host name may be unknown, or the ` +
        "certificate not trusted",
    );
    expect(runtime.output()).toMatch(
      /TLS peer's certificate is not trusted|invalid peer certificate/,
    );
  });
});
