/** The probe, on services that honour, ignore or refuse conditions. */
import { describe, expect, it } from "vitest";
import { place, simulatedConnection } from "../../../test/store/support/simulated-connection.ts";
import { md5 } from "../core/hash.ts";
import { probe } from "./probe.ts";
import { describeGaps, requireFeatures } from "./remote-gaps.ts";
import { RemoteError, type S3Answer, type S3Message } from "./s3-transport.ts";
import type { S3Connection } from "./s3-connection.ts";
import { gapsOf, type RemoteFeatures } from "./remote-options.ts";

type Treatment = "honour" | "ignore" | "refuse";

interface ServiceOptions {
  readonly quoted?: Treatment;
  readonly unquoted?: Treatment;
  readonly noneMatch?: Treatment;
  readonly delete?: Treatment;
  readonly complete?: Treatment;
  /** Methods of requests that compare in one step and write in another. */
  readonly races?: readonly string[];
  /** A put without a condition is acknowledged, and a request of the same moment wins. */
  readonly losesPlainPuts?: boolean;
  readonly unequal?: Treatment;
  readonly hasVersions?: boolean;
  /** Answers a request in the place of the service. */
  readonly intercept?: (message: S3Message) => S3Answer | null;
}

function answer(status: number, text = "", headers: Record<string, string> = {}): S3Answer {
  return { status, headers: new Headers(headers), body: new Response(text).body };
}

const refusal = (status: number, code: string) =>
  answer(status, `<Error><Code>${code}</Code></Error>`);

interface StoredObject {
  readonly text: string;
  readonly changed: number;
  readonly etag: string;
}

/** Objects and uploads in memory. */
class FakeService {
  readonly objects = new Map<string, StoredObject>();
  readonly uploads = new Map<string, string>();
  readonly versions: { readonly key: string; readonly id: string; readonly name: string }[] = [];
  readonly targets: string[] = [];
  readonly #parts = new Map<string, string>();
  readonly #options: ServiceOptions;

  constructor(options: ServiceOptions) {
    this.#options = options;
  }

  connect(): S3Connection {
    return simulatedConnection((url, message) => this.#answer(url, message));
  }

  #answer(url: URL, message: S3Message): S3Answer | Promise<S3Answer> {
    this.targets.push(`${message.method} ${message.target}`);
    const intercepted = this.#options.intercept?.(message) ?? null;
    if (intercepted !== null) return intercepted;
    const { method } = message;
    const key = decodeURIComponent(url.pathname.slice("/photos/".length));
    const query = url.searchParams;
    if (method === "GET") return this.#read(key, query);
    const uploadId = query.get("uploadId");
    if (method === "POST" && uploadId === null) {
      const id = `${key}-${this.uploads.size}`;
      this.uploads.set(id, key);
      return answer(200, `<Result><UploadId>${id}</UploadId></Result>`);
    }
    if (method === "DELETE" && uploadId !== null) {
      return this.uploads.delete(uploadId) ? answer(204) : refusal(404, "NoSuchUpload");
    }
    const versionId = query.get("versionId");
    if (versionId !== null) {
      const index = this.versions.findIndex((each) => each.key === key && each.id === versionId);
      if (index !== -1) this.versions.splice(index, 1);
      return answer(index === -1 ? 404 : 204);
    }
    const text = new TextDecoder().decode(message.body as Uint8Array);
    if (method === "PUT" && uploadId !== null) {
      this.#parts.set(uploadId, text);
      return answer(200, "", { etag: '"part"' });
    }
    const treatment = this.#treatment(message);
    if (treatment === "refuse") return refusal(501, "NotImplemented");
    if (treatment === "honour" && !this.#holds(message, key)) {
      // AWS sends the status of a completion before the outcome is known.
      return refusal(method === "POST" ? 200 : 412, "PreconditionFailed");
    }
    const write = () => this.#write(key, method, uploadId, text);
    // The others of the same moment compare before this one writes.
    const isRaced = this.#options.races?.includes(method) === true && treatment === "honour";
    const isLost =
      treatment === "ignore" && method === "PUT" && this.#options.losesPlainPuts === true;
    if (isLost && this.objects.has(key)) {
      const { etag } = this.objects.get(key)!;
      return new Promise((resolve) =>
        setTimeout(() => {
          const isSame = this.objects.get(key)?.etag === etag;
          resolve(isSame ? write() : answer(200, "", { etag: '"lost"' }));
        }),
      );
    }
    return isRaced ? new Promise((resolve) => setTimeout(() => resolve(write()))) : write();
  }

  #read(key: string, query: URLSearchParams): S3Answer {
    if (key !== "") {
      const object = this.objects.get(key);
      return object === undefined ? refusal(404, "NoSuchKey") : answer(200, object.text);
    }
    const start = query.get("prefix") ?? "";
    const status = this.#options.hasVersions === true ? "<Status>Enabled</Status>" : "";
    if (query.has("versioning")) {
      const text = `<VersioningConfiguration>${status}</VersioningConfiguration>`;
      return answer(200, text, { server: "Fake 1" });
    }
    if (query.has("uploads")) {
      const uploads = [...this.uploads].filter(([, each]) => each.startsWith(start));
      return answer(
        200,
        `<ListMultipartUploadsResult>${uploads.map(([id, each]) => `<Upload><Key>${each}</Key><UploadId>${id}</UploadId></Upload>`).join("")}</ListMultipartUploadsResult>`,
      );
    }
    if (query.has("versions")) {
      const rows = this.versions.filter((each) => each.key.startsWith(start));
      return answer(
        200,
        `<ListVersionsResult>${rows.map(({ key: each, id, name }) => `<${name}><Key>${each}</Key><VersionId>${id}</VersionId></${name}>`).join("")}</ListVersionsResult>`,
      );
    }
    const rows = [...this.objects].filter(([each]) => each.startsWith(start));
    return answer(
      200,
      `<ListBucketResult>${rows.map(([each, { changed }]) => `<Contents><Key>${each}</Key><LastModified>${new Date(changed).toISOString()}</LastModified></Contents>`).join("")}</ListBucketResult>`,
    );
  }

  #write(key: string, method: string, uploadId: string | null, text: string): S3Answer {
    const id = `version-${this.targets.length}-${this.versions.length}`;
    if (this.#options.hasVersions === true) {
      this.versions.push({ key, id, name: method === "DELETE" ? "DeleteMarker" : "Version" });
    }
    if (method === "DELETE") {
      this.objects.delete(key);
      return answer(204);
    }
    if (uploadId !== null) this.uploads.delete(uploadId);
    const etag = md5(new TextEncoder().encode(text));
    const stored = uploadId === null ? text : (this.#parts.get(uploadId) ?? "");
    this.objects.set(key, { text: stored, changed: Date.now(), etag });
    return answer(200, "", { etag: `"${etag}"` });
  }

  #treatment({ method, headers }: S3Message): Treatment {
    const match = headers["if-match"];
    if (match === undefined && headers["if-none-match"] === undefined) return "ignore";
    const { quoted, unquoted, noneMatch, complete } = this.#options;
    if (method === "DELETE") return this.#options.delete ?? "honour";
    if (method === "POST") return complete ?? "honour";
    if (match === undefined) {
      return (headers["if-none-match"] === "*" ? noneMatch : this.#options.unequal) ?? "honour";
    }
    return (match.startsWith('"') ? quoted : unquoted) ?? "honour";
  }

  #holds({ headers }: S3Message, key: string): boolean {
    const match = headers["if-match"];
    const etag = this.objects.get(key)?.etag;
    const noneMatch = headers["if-none-match"];
    if (match === undefined)
      return noneMatch === "*" ? etag === undefined : noneMatch !== `"${etag}"`;
    return etag !== undefined && match.replaceAll('"', "") === etag;
  }
}

const all: RemoteFeatures = {
  putIfMatch: "quoted",
  putIfNoneMatch: true,
  conditionalComplete: true,
  conditionalDelete: true,
  unconditionalPut: "unequal tag",
  unconditionalDelete: true,
  etagIsMd5: true,
  service: { server: "Fake 1", versioning: "off" },
  seen: {},
};

describe("probe()", () => {
  it.each<[string, ServiceOptions, Partial<RemoteFeatures>, string[]]>([
    ["honours everything", {}, {}, []],
    ["ignores quoted tags", { quoted: "ignore" }, { putIfMatch: "unquoted" }, []],
    ["refuses quoted tags", { quoted: "refuse" }, { putIfMatch: "unquoted" }, []],
    [
      "ignores If-Match",
      { quoted: "ignore", unquoted: "ignore" },
      { putIfMatch: null },
      ["conditional-put"],
    ],
    [
      "refuses If-Match",
      { quoted: "refuse", unquoted: "refuse" },
      { putIfMatch: null },
      ["conditional-put"],
    ],
    [
      "ignores If-None-Match",
      { noneMatch: "ignore" },
      { putIfNoneMatch: false },
      ["conditional-put"],
    ],
    [
      "refuses If-None-Match",
      { noneMatch: "refuse" },
      { putIfNoneMatch: false },
      ["conditional-put"],
    ],
    [
      "ignores conditions of a delete",
      { delete: "ignore" },
      { conditionalDelete: false },
      ["conditional-delete"],
    ],
    [
      "refuses conditions of a delete",
      { delete: "refuse" },
      { conditionalDelete: false },
      ["conditional-delete"],
    ],
    [
      "ignores conditions of a completion",
      { complete: "ignore" },
      { conditionalComplete: false },
      ["conditional-complete"],
    ],
    [
      "refuses conditions of a completion",
      { complete: "refuse" },
      { conditionalComplete: false },
      ["conditional-complete"],
    ],
    ["ignores unequal tags", { unequal: "ignore" }, { unconditionalPut: null }, []],
    ["refuses unequal tags", { unequal: "refuse" }, { unconditionalPut: "plain" }, []],
    [
      "acknowledges plain puts that lose a race",
      { unequal: "refuse", losesPlainPuts: true },
      { unconditionalPut: null },
      [],
    ],
    ["loses races of puts", { races: ["PUT"] }, {}, ["conditional-put"]],
    [
      "loses races of deletes",
      { races: ["DELETE"] },
      { conditionalDelete: false },
      ["conditional-delete"],
    ],
    [
      "loses races of completions",
      { races: ["POST"] },
      { conditionalComplete: false },
      ["conditional-complete"],
    ],
  ])("finds a service that %s, and leaves nothing", async (_, options, expected, gaps) => {
    const service = new FakeService(options);
    const found = await probe(service.connect());
    expect({ ...found, seen: {} }).toEqual({ ...all, ...expected });
    expect(gapsOf(found)).toEqual(gaps);
    expect([...service.objects, ...service.uploads]).toEqual([]);
    const foreign = service.targets.filter(
      (target) =>
        !target.includes("/photos/team/.ledge-probe-") &&
        !target.includes("prefix=team%2F.ledge-probe-"),
    );
    expect(foreign).toEqual([
      "GET /photos?list-type=2&max-keys=1&prefix=team%2F",
      "GET /photos?versioning=",
    ]);
  });

  it.each(["PUT", "POST", "DELETE"])("leaves nothing after a %s that fails", async (method) => {
    let failures = 0;
    const service = new FakeService({
      intercept: (message) => {
        const isFirst = message.method === method && failures === 0;
        if (!isFirst) return null;
        failures++;
        return refusal(403, "AccessDenied");
      },
    });
    const rejected = await probe(service.connect()).catch((error: unknown) => error);
    expect(rejected).toBeInstanceOf(RemoteError);
    expect((rejected as RemoteError).message).toContain('denied access to the bucket "photos"');
    expect([...service.objects, ...service.uploads]).toEqual([]);
  });

  it.each([
    ["<html>Welcome</html>", "is no S3 service"],
    ["", "is no S3 service"],
    ["<ListAllMyBucketsResult/>", "is no S3 service"],
  ])("refuses a server that answers a list with '%s'", async (text, sentence) => {
    const service = new FakeService({ intercept: () => answer(200, text) });
    await expect(probe(service.connect())).rejects.toThrow(sentence);
    expect(service.targets).toHaveLength(1);
  });

  it("refuses a service that stores nothing", async () => {
    const service = new FakeService({
      intercept: ({ method }) => (method === "PUT" ? answer(200, "OK") : null),
    });
    await expect(probe(service.connect())).rejects.toThrow("no entity tag");
  });
});

describe("probe() of a bucket with versions", () => {
  it("leaves no version and no delete marker", async () => {
    const service = new FakeService({ hasVersions: true });
    const { service: found } = await probe(service.connect());
    expect(found).toEqual({ server: "Fake 1", versioning: "enabled" });
    expect(service.versions).toEqual([]);
  });
});

describe("probe() after a probe that was killed", () => {
  it("removes what is old, and nothing of a probe that runs or of a program", async () => {
    const service = new FakeService({});
    const hour = 3_600_000;
    const store = (key: string, age: number) =>
      service.objects.set(key, { text: "", etag: "", changed: Date.now() - age });
    store("team/.ledge-probe-old", hour);
    store("team/.ledge-probe-new", 0);
    store("team/kept", hour);
    store(".ledge-probe-of-another-prefix", hour);
    await probe(service.connect());
    expect([...service.objects.keys()]).toEqual([
      "team/.ledge-probe-new",
      "team/kept",
      ".ledge-probe-of-another-prefix",
    ]);
  });
});

const gap = (seen: RemoteFeatures["seen"], others: Partial<RemoteFeatures> = {}) => ({
  ...all,
  seen,
  ...others,
});

describe("requireFeatures()", () => {
  it("accepts a service without gaps, and one whose conditional deletes alone do not hold", () => {
    expect(() => requireFeatures(place, all, [])).not.toThrow();
    const minor = gap({ "conditional-delete": "in 3 of 16 races, both succeeded" });
    expect(() => requireFeatures(place, minor, [])).not.toThrow();
    expect(describeGaps(minor)).toEqual([
      "conditional-delete: in 3 of 16 races, both succeeded. A delete with a condition is refused, and a move " +
        "copies only. Deletes without a condition are not affected.",
    ]);
  });

  it("says what was seen, what that means, and what to change", () => {
    const raced = { "conditional-put": "7 of 16 racing puts with one condition succeeded" };
    const versioned = gap(raced, { service: { server: "Ceph", versioning: "enabled" } });
    expect(() => requireFeatures(place, versioned, ["conditional-delete"])).toThrow(
      'The remote "cluster" (https://s3.example.net) lacks conditional-put: 7 of 16 racing puts with one condition ' +
        "succeeded. Two writers can overwrite each other, and both are told that they succeeded. The bucket " +
        '"photos" has versions (enabled): use a bucket without versions, or write accept = ["conditional-put"] in ' +
        "[remotes.cluster] if one program at a time writes.",
    );
    const old = gap(
      { "conditional-complete": "ignored", "conditional-delete": "ignored" },
      { unconditionalDelete: false },
    );
    expect(() => requireFeatures(place, old, [])).toThrow(
      /lacks conditional-complete: .*\nIt lacks conditional-delete: .*accept = \["conditional-complete", "conditional-delete"\]/,
    );
    expect(() => requireFeatures(place, old, ["conditional-complete"])).toThrow(
      /accept = \["conditional-delete"\]/,
    );
    expect(() =>
      requireFeatures(place, old, ["conditional-complete", "conditional-delete"]),
    ).not.toThrow();
  });
});
