/** The probe, on services that honour, ignore or refuse conditions. */
import { describe, expect, it } from "vitest";
import { place, simulatedConnection } from "../../../test/store/support/simulated-connection.ts";
import { probe, requiredGaps } from "./probe.ts";
import { RemoteError, type S3Answer, type S3Message } from "./s3-transport.ts";
import type { S3Connection } from "./s3-connection.ts";
import { gapsOf, noFeatures, type RemoteFeatures } from "./remote-options.ts";

type Treatment = "honour" | "ignore" | "refuse";

interface ServiceOptions {
  readonly quoted?: Treatment;
  readonly unquoted?: Treatment;
  readonly noneMatch?: Treatment;
  readonly delete?: Treatment;
  readonly complete?: Treatment;
  /** Answers a request in the place of the service. */
  readonly intercept?: (message: S3Message) => S3Answer | null;
}

function answer(status: number, text = "", headers: Record<string, string> = {}): S3Answer {
  return { status, headers: new Headers(headers), body: new Response(text).body };
}

const refusal = (status: number, code: string) =>
  answer(status, `<Error><Code>${code}</Code></Error>`);

/** Objects and uploads in memory. Each content has the same entity tag. */
class FakeService {
  readonly objects = new Set<string>();
  readonly uploads = new Set<string>();
  readonly targets: string[] = [];
  readonly #options: ServiceOptions;

  constructor(options: ServiceOptions) {
    this.#options = options;
  }

  connect(): S3Connection {
    return simulatedConnection((url, message) => this.#answer(url, message));
  }

  #answer(url: URL, message: S3Message): S3Answer {
    this.targets.push(`${message.method} ${message.target}`);
    const intercepted = this.#options.intercept?.(message) ?? null;
    if (intercepted !== null) return intercepted;
    if (message.method === "GET") return answer(200, "<ListBucketResult/>");
    const key = url.pathname.slice("/photos/".length);
    const uploadId = url.searchParams.get("uploadId");
    if (message.method === "POST" && uploadId === null) {
      this.uploads.add(key);
      return answer(
        200,
        `<InitiateMultipartUploadResult><UploadId>${key}</UploadId></InitiateMultipartUploadResult>`,
      );
    }
    if (message.method === "DELETE" && uploadId !== null) {
      return this.uploads.delete(uploadId) ? answer(204) : refusal(404, "NoSuchUpload");
    }
    if (message.method === "PUT" && uploadId !== null) return answer(200, "", { etag: '"part"' });
    const treatment = this.#treatment(message);
    if (treatment === "refuse") return refusal(501, "NotImplemented");
    if (treatment === "honour" && !this.#holds(message, key)) {
      // AWS sends the status of a completion before the outcome is known.
      return refusal(message.method === "POST" ? 200 : 412, "PreconditionFailed");
    }
    if (message.method === "DELETE") {
      this.objects.delete(key);
      return answer(204);
    }
    if (uploadId !== null) this.uploads.delete(uploadId);
    this.objects.add(key);
    return answer(200, "", { etag: '"tag"' });
  }

  #treatment({ method, headers }: S3Message): Treatment {
    const match = headers["if-match"];
    if (match === undefined && headers["if-none-match"] === undefined) return "ignore";
    const { quoted, unquoted, noneMatch, complete } = this.#options;
    if (method === "DELETE") return this.#options.delete ?? "honour";
    if (method === "POST") return complete ?? "honour";
    if (match === undefined) return noneMatch ?? "honour";
    return (match.startsWith('"') ? quoted : unquoted) ?? "honour";
  }

  #holds({ headers }: S3Message, key: string): boolean {
    const match = headers["if-match"];
    if (match === undefined) return !this.objects.has(key);
    return this.objects.has(key) && match.replaceAll('"', "") === "tag";
  }
}

const all: RemoteFeatures = {
  putIfMatch: "quoted",
  putIfNoneMatch: true,
  conditionalComplete: true,
  conditionalDelete: true,
};

describe("probe()", () => {
  it.each<[string, ServiceOptions, Partial<Record<keyof RemoteFeatures, unknown>>]>([
    ["honours everything", {}, {}],
    ["ignores quoted tags", { quoted: "ignore" }, { putIfMatch: "unquoted" }],
    ["refuses quoted tags", { quoted: "refuse" }, { putIfMatch: "unquoted" }],
    ["ignores If-Match", { quoted: "ignore", unquoted: "ignore" }, { putIfMatch: null }],
    ["refuses If-Match", { quoted: "refuse", unquoted: "refuse" }, { putIfMatch: null }],
    ["ignores If-None-Match", { noneMatch: "ignore" }, { putIfNoneMatch: false }],
    ["refuses If-None-Match", { noneMatch: "refuse" }, { putIfNoneMatch: false }],
    ["ignores conditions of a delete", { delete: "ignore" }, { conditionalDelete: false }],
    ["refuses conditions of a delete", { delete: "refuse" }, { conditionalDelete: false }],
    ["ignores conditions of a completion", { complete: "ignore" }, { conditionalComplete: false }],
    ["refuses conditions of a completion", { complete: "refuse" }, { conditionalComplete: false }],
  ])("finds a service that %s, and leaves nothing", async (_, options, expected) => {
    const service = new FakeService(options);
    expect(await probe(service.connect())).toEqual({ ...all, ...expected });
    expect([...service.objects, ...service.uploads]).toEqual([]);
    const foreign = service.targets.filter(
      (target) => !target.includes("/photos/team/.ledge-probe-"),
    );
    expect(foreign).toEqual(["GET /photos?list-type=2&max-keys=1&prefix=team%2F"]);
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

describe("gapsOf()", () => {
  it("lists what does not hold", () => {
    expect(gapsOf(all)).toEqual([]);
    expect(gapsOf(noFeatures)).toEqual([
      "conditional-put",
      "conditional-complete",
      "conditional-delete",
    ]);
    expect(gapsOf({ ...all, putIfMatch: null })).toEqual(["conditional-put"]);
    expect(gapsOf({ ...all, conditionalDelete: false })).toEqual(["conditional-delete"]);
  });
});

describe("requiredGaps()", () => {
  it("finds nothing when puts honour conditions", () => {
    const partial = { ...noFeatures, putIfMatch: "unquoted", putIfNoneMatch: true } as const;
    expect(requiredGaps(place, partial, [])).toBeNull();
  });

  it("says which condition of a put is ignored, and what to do", () => {
    expect(requiredGaps(place, noFeatures, ["conditional-delete"])).toBe(
      'The remote "cluster" (https://s3.example.net) ignores If-None-Match and If-Match of a put, so two ' +
        "writers can overwrite each other. Use a service that honours conditional writes, or write " +
        'accept = ["conditional-put"] in [remotes.cluster].',
    );
    expect(requiredGaps(place, { ...all, putIfMatch: null }, [])).toContain("ignores If-Match of");
    expect(requiredGaps(place, { ...all, putIfNoneMatch: false }, [])).toContain(
      "ignores If-None-Match of",
    );
  });

  it("finds nothing that the configuration accepts", () => {
    expect(requiredGaps(place, noFeatures, ["conditional-put"])).toBeNull();
  });
});
