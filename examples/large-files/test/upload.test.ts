import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { delay, fingerprint, Upload } from "../public/upload.js";
import {
  digest,
  downloadDigest,
  makeFile,
  MemoryStorage,
  network,
  noWaiting,
  recordedNetwork,
} from "./browser.ts";

const unavailable = () => Response.json({ error: "busy" }, { status: 503 });

describe("Upload", () => {
  it("sends a file in parts, and the server stores the same bytes", async () => {
    const file = makeFile("whole.bin");
    const storage = new MemoryStorage();
    const sent: number[] = [];
    const { fetch, lines } = recordedNetwork();
    const onChange = (upload: Upload) => sent.push(upload.sent);
    const upload = new Upload(file, { fetch, storage, onChange });
    await upload.start();

    expect(upload.error).toBeNull();
    expect(upload.state).toBe("done");
    expect(lines[0]).toBe("POST /uploads");
    expect(lines.slice(1, 4).sort()).toEqual([1, 2, 3].map((part) => `PUT /uploads/<id>/${part}`));
    expect(lines.slice(4)).toEqual(["POST /uploads/<id>/complete", "DELETE /uploads/<id>"]);
    expect(await downloadDigest(upload)).toBe(await digest(await file.arrayBuffer()));
    expect(sent.at(-1)).toBe(file.size);
    expect(sent).toEqual(sent.toSorted((a, b) => a - b));
    expect(storage.items.size).toBe(0);
    expect((await env.UPLOADS.list()).objects).toEqual([]);
  });

  it("sends an empty file", async () => {
    const upload = new Upload(makeFile("empty.bin", 0), {
      fetch: network,
      storage: new MemoryStorage(),
    });
    await upload.start();
    expect(upload.state).toBe("done");
    expect(upload.result?.size).toBe(0);
  });

  it("retries a part after a lost connection and after a 5xx response", async () => {
    const failures = new Map([
      ["PUT /uploads/<id>/1", 2],
      ["PUT /uploads/<id>/3", 1],
      ["POST /uploads", 1],
    ]);
    const { fetch } = recordedNetwork((line) => {
      const left = failures.get(line) ?? 0;
      failures.set(line, left - 1);
      if (left <= 0) return undefined;
      return line.endsWith("1") ? new TypeError("connection lost") : unavailable();
    });
    const { wait, delays } = noWaiting();
    const file = makeFile("bumpy.bin");
    const upload = new Upload(file, { fetch, wait, storage: new MemoryStorage() });
    await upload.start();
    expect(upload.state).toBe("done");
    expect(delays).toHaveLength(4);
    expect(await downloadDigest(upload)).toBe(await digest(await file.arrayBuffer()));
  });

  it("fails after its last attempt, and start() continues with the missing parts", async () => {
    let broken = true;
    const { fetch, parts } = recordedNetwork((line) =>
      broken && line.endsWith("/2") ? unavailable() : undefined,
    );
    const { wait, delays } = noWaiting();
    const options = { fetch, wait, attempts: 3, concurrency: 1, storage: new MemoryStorage() };
    const upload = new Upload(makeFile("retried.bin"), options);
    await upload.start();
    expect(upload.state).toBe("failed");
    expect(upload.error?.message).toBe("busy");
    expect(delays).toHaveLength(2);

    broken = false;
    const before = parts().length;
    await upload.start();
    expect(upload.state).toBe("done");
    expect(parts().slice(before)).toEqual(["PUT /uploads/<id>/2", "PUT /uploads/<id>/3"]);
  });

  it("sends only the missing parts after a reload", async () => {
    const file = makeFile("reload.bin");
    const storage = new MemoryStorage();
    const first = recordedNetwork((line) => (line.endsWith("/3") ? unavailable() : undefined));
    const { wait } = noWaiting();
    await new Upload(file, { fetch: first.fetch, wait, storage, concurrency: 1 }).start();
    expect(storage.items.has(fingerprint(file))).toBe(true);

    const second = recordedNetwork();
    const upload = new Upload(file, { fetch: second.fetch, storage });
    await upload.start();
    expect(second.lines).toEqual([
      "GET /uploads/<id>",
      "PUT /uploads/<id>/3",
      "POST /uploads/<id>/complete",
      "DELETE /uploads/<id>",
    ]);
    expect(await downloadDigest(upload)).toBe(await digest(await file.arrayBuffer()));
  });

  it("creates a new upload when the server no longer has the old one", async () => {
    const file = makeFile("unknown.bin", 10);
    const storage = new MemoryStorage();
    storage.setItem(fingerprint(file), crypto.randomUUID());
    const upload = new Upload(file, { fetch: network, storage });
    await upload.start();
    expect(upload.state).toBe("done");
  });

  it("pauses and continues", async () => {
    const file = makeFile("pause.bin");
    const { fetch, parts } = recordedNetwork();
    const storage = new MemoryStorage();
    let paused: Promise<void> | undefined;
    const upload = new Upload(file, {
      fetch,
      storage,
      concurrency: 1,
      onChange: ({ sent, state }) => {
        if (sent > 0 && state === "uploading") paused ??= upload.pause();
      },
    });
    await upload.start();
    await paused;
    expect(upload.state).toBe("paused");
    const before = parts().length;
    expect(before).toBeLessThan(3);
    await upload.start();
    expect(upload.state).toBe("done");
    expect(await downloadDigest(upload)).toBe(await digest(await file.arrayBuffer()));
  });

  it("leaves no file and no record when it is aborted", async () => {
    const file = makeFile("abort.bin");
    const storage = new MemoryStorage();
    const { fetch } = recordedNetwork((line) => (line.endsWith("/2") ? unavailable() : undefined));
    const { wait } = noWaiting();
    const upload = new Upload(file, { fetch, wait, storage, concurrency: 1 });
    await upload.start();
    expect((await env.UPLOADS.list()).objects).not.toEqual([]);
    await upload.abort();
    expect(upload.state).toBe("aborted");
    expect(storage.items.size).toBe(0);
    expect((await env.UPLOADS.list()).objects).toEqual([]);
    expect(await env.FILES.head("abort.bin")).toBeNull();
  });

  it("is done when the response to complete is lost", async () => {
    const storage = new MemoryStorage();
    const { wait, delays } = noWaiting();
    let lost = false;
    const fetch = async (url: string, init?: RequestInit) => {
      const answer = await network(url, init);
      if (lost || !url.endsWith("/complete")) return answer;
      lost = true;
      await answer.text();
      throw new TypeError("connection lost");
    };
    const upload = new Upload(makeFile("lost.bin", 10), { fetch, wait, storage });
    await upload.start();
    expect(upload.state).toBe("done");
    expect(delays).toHaveLength(1);
    expect(upload.result?.url).toBe("/files/lost.bin");
  });

  it("sends at most `concurrency` parts at once", async () => {
    let inFlight = 0;
    let inFlightMax = 0;
    const sendPart = async (url: string, body: Blob) => {
      inFlight += 1;
      inFlightMax = Math.max(inFlightMax, inFlight);
      const answer = await network(url, { method: "PUT", body });
      inFlight -= 1;
      return answer;
    };
    const storage = new MemoryStorage();
    const options = { fetch: network, sendPart, storage, concurrency: 2 };
    const upload = new Upload(makeFile("four.bin", 28 * 1024 * 1024), options);
    await upload.start();
    expect(upload.state).toBe("done");
    expect(inFlightMax).toBe(2);
  });
});

describe("delay()", () => {
  it("grows up to a maximum", () => {
    expect(delay(1)).toBeLessThanOrEqual(625);
    expect(delay(4)).toBeGreaterThanOrEqual(3000);
    expect(delay(30)).toBeLessThanOrEqual(12_500);
  });
});
