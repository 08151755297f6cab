/** Request bodies without a Content-Length. */
import { afterAll, expect, test } from "vitest";
import { Client, credentials } from "./support/client.ts";
import { startServer } from "./support/server.ts";

const server = await startServer();
const path = `/zones/${await new Client(server.url).createZone("body.example")}/dns_records`;
afterAll(() => server.stop());

function stream(chunk: string, count: number): ReadableStream<Uint8Array> {
  const bytes = new TextEncoder().encode(chunk);
  let sent = 0;
  return new ReadableStream({
    pull(controller) {
      if (sent++ < count) controller.enqueue(bytes);
      else controller.close();
    },
  });
}

async function post(body: ReadableStream<Uint8Array>) {
  const response = await fetch(server.url + path, {
    method: "POST",
    headers: { ...credentials, "content-type": "application/json" },
    body,
    duplex: "half",
  } as RequestInit);
  return {
    status: response.status,
    body: (await response.json()) as { errors: unknown[]; success: boolean },
  };
}

test("a chunked body is read in pieces", async () => {
  const text = JSON.stringify({
    type: "TXT",
    name: "x",
    content: "grüße",
    comment: "ü".repeat(90),
  });
  const bytes = new TextEncoder().encode(text);
  let at = 0;
  const pieces = new ReadableStream<Uint8Array>({
    pull(controller) {
      if (at >= bytes.length) return controller.close();
      controller.enqueue(bytes.slice(at, at + 7));
      at += 7;
    },
  });
  expect(await post(pieces)).toMatchObject({ status: 200, body: { success: true } });
});

test("a chunked body above the limit is refused, and the client reads the reply", async () => {
  const answer = await post(stream(" ".repeat(65_536), 100));
  expect(answer.status).toBe(413);
  expect(answer.body.errors).toEqual([
    { code: 9440, message: "Request body is larger than 4194304 bytes." },
  ]);
});
