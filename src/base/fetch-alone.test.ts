import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, it, onTestFinished } from "vitest";
import { fetchAlone } from "./fetch-alone.ts";

it("asks the server to end the connection with the response, and sends the caller's headers", async () => {
  const server = createServer(({ method, headers }, response) => {
    response.end([method, headers["x-name"], headers.connection].join(" "));
  }).listen(0, "127.0.0.1");
  onTestFinished(() => void server.close());
  await once(server, "listening");
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const response = await fetchAlone(url, { method: "POST", headers: { "x-name": "a" } });
  expect(await response.text()).toBe("POST a close");
});
