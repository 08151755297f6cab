/** Lists of uploads, on services that encode keys, order uploads and take markers differently. */
import { describe, expect, it } from "vitest";
import { encodeComponent } from "../../http/uri.ts";
import { writeXml } from "../../http/xml.ts";
import { compareKeys } from "../core/key.ts";
import { uploadLifetimeMilliseconds } from "../core/limits.ts";
import type { Result, UploadPosition } from "../core/operations.ts";
import type { RemoteContext } from "./remote-context.ts";
import { listUploads } from "./remote-list.ts";
import {
  simulatedAnswer,
  simulatedContext,
} from "../../../test/store/support/simulated-connection.ts";
import type { S3Answer } from "./s3-transport.ts";

/** `named`: keys are encoded, and the answer says so; `silent`: as Ceph; `ignored`: keys are plain. */
type Encoding = "named" | "silent" | "ignored";

const lastCharacter = "\u{10ffff}";
const expired = new Date(-uploadLifetimeMilliseconds - 1);

/** Refuses delimiters. Each key has as many uploads as it is named. */
class UploadsService {
  readonly #encoding: Encoding;
  readonly #uploads: { key: string; id: string }[];
  readonly #pageMax: number;

  constructor(keys: readonly string[], encoding: Encoding = "named", pageMax = 1000) {
    this.#encoding = encoding;
    this.#pageMax = pageMax;
    this.#uploads = keys
      .map((key, index) => ({ key: `team/${key}`, id: String(index) }))
      .toSorted((a, b) => compareKeys(this.#sortText(a), this.#sortText(b)));
  }

  context(): RemoteContext {
    return simulatedContext((url) => this.#answer(url));
  }

  /** Ceph has names such as `KEY.ID.meta`. */
  #sortText({ key, id }: { key: string; id: string }): string {
    return this.#encoding === "silent" ? `${key}.${id}.meta` : `${key}\0${id}`;
  }

  #answer({ searchParams: query }: URL): S3Answer {
    if (query.has("delimiter")) return simulatedAnswer(501);
    const key = query.get("key-marker");
    const id = query.get("upload-id-marker");
    const marker =
      key === null
        ? ""
        : id !== null
          ? this.#sortText({ key, id })
          : this.#encoding === "silent"
            ? key
            : `${key}\0${lastCharacter}`;
    const rest = this.#uploads
      .filter((upload) => upload.key.startsWith(query.get("prefix") ?? ""))
      .filter((upload) => compareKeys(this.#sortText(upload), marker) > 0);
    const page = rest.slice(0, Math.min(Number(query.get("max-uploads")), this.#pageMax));
    const isEncoded = query.get("encoding-type") === "url" && this.#encoding !== "ignored";
    const text = writeXml("ListMultipartUploadsResult", {
      ...(isEncoded && this.#encoding === "named" && { EncodingType: "url" }),
      IsTruncated: page.length < rest.length ? "true" : "false",
      Upload: page.map((upload) => ({
        Key: isEncoded ? upload.key.split("/").map(encodeComponent).join("/") : upload.key,
        UploadId: upload.id,
        Initiated: (upload.key.endsWith("expired") ? expired : new Date(0)).toISOString(),
      })),
    });
    return simulatedAnswer(200, { text });
  }
}

/** The items of all pages, in their order, and the number of the pages. */
async function pagesOf(
  remote: RemoteContext,
  { delimiter = "", limit = 1000 },
): Promise<{ items: string[]; pages: number }> {
  const items: string[] = [];
  let after: UploadPosition | undefined;
  for (let pages = 1; ; pages++) {
    const request = { prefix: "u/", delimiter, limit, after };
    const page: Result<"listUploads"> = await listUploads(remote, request);
    const found = [...page.uploads.map(({ key }) => key), ...page.prefixes];
    expect(found.length).toBeLessThanOrEqual(limit);
    items.push(...found.toSorted(compareKeys));
    if (page.next === undefined) return { items, pages };
    after = page.next;
  }
}

describe("listUploads()", () => {
  const keys = ["t", "u/a", "u/b/1", "u/b/2", "u/b/2", "u/c", "u/c", "u/d/1", "u/e", "v"];
  const plain = ["u/a", "u/b/1", "u/b/2", "u/b/2", "u/c", "u/c", "u/d/1", "u/e"];
  const rolledUp = ["u/a", "u/b/", "u/c", "u/c", "u/d/", "u/e"];

  for (const encoding of ["named", "silent", "ignored"] as const) {
    it.each([1, 2, 3, 1000])(
      `rolls keys up in pages of %i, encoding ${encoding}`,
      async (limit) => {
        for (const pageMax of [1, 2, 1000]) {
          const service = new UploadsService(keys, encoding, pageMax);
          expect((await pagesOf(service.context(), { limit })).items).toEqual(plain);
          const found = await pagesOf(service.context(), { limit, delimiter: "/" });
          expect(found.items).toEqual(rolledUp);
        }
      },
    );

    it(`reads difficult keys, encoding ${encoding}`, async () => {
      const difficult = ["u/\u0001", "u/ +&<", "u/%2B", "u/+", "u/é"];
      const service = new UploadsService(difficult, encoding);
      expect((await pagesOf(service.context(), {})).items).toEqual(difficult);
    });
  }

  it("begins after all uploads of a key, and leaves out uploads that have expired", async () => {
    for (const encoding of ["named", "silent"] as const) {
      const service = new UploadsService(["u/a-expired", "u/b", "u/b", "u/c"], encoding, 1);
      const request = { prefix: "u/", limit: 1 };
      const page = await listUploads(service.context(), { ...request, after: { key: "u/b" } });
      expect(page.uploads).toMatchObject([{ key: "u/c" }]);
      expect((await listUploads(service.context(), request)).uploads).toMatchObject([
        { key: "u/b" },
      ]);
    }
  });
});
