import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, it, onTestFinished, describe, test } from "vitest";
import { fetchAlone, isLastRequest, readHead, ResponseEnd } from "./node-http.ts";

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

const octets = (text: string): Uint8Array => Buffer.from(text, "latin1");

test.each([
  ["GET / HTTP/1.1\r\nHost: a\r\n\r\n", false],
  ["GET / HTTP/1.1\r\nConnection: close\r\n\r\n", true],
  ["GET / HTTP/1.1\r\nconnection: TE, Close\r\n\r\n", true],
  ["GET / HTTP/1.1\r\nX-Connection: close\r\n\r\n", false],
  ["GET / HTTP/1.0\r\nHost: a\r\n\r\n", true],
  ["GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n", false],
])("isLastRequest(%j) is %j", (head, expected) => {
  expect(isLastRequest(head)).toBe(expected);
});

test("readHead() ends at the empty line, and is null before", () => {
  expect(readHead(octets("GET / HTTP/1.1\r\nHost: a\r\n"))).toBeNull();
  expect(readHead(octets("GET / HTTP/1.1\r\n\r\nbody"))).toBe("GET / HTTP/1.1\r\n\r\n");
});

describe("ResponseEnd.take()", () => {
  const get = "GET / HTTP/1.1\r\n\r\n";

  test.each([
    ["a length", get, "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"],
    ["an empty body", get, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"],
    ["no body", get, "HTTP/1.1 204 No Content\r\n\r\n"],
    ["HEAD", "HEAD / HTTP/1.1\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n"],
    [
      "an interim response",
      get,
      "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx",
    ],
    [
      "chunks",
      get,
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\na;b=c\r\n0123456789\r\n0\r\nX: y\r\n\r\n",
    ],
  ])("finds the end of a response with %s, in pieces of any size", (_, request, response) => {
    for (let size = 1; size <= response.length; size++) {
      const end = new ResponseEnd(request);
      let length = 0;
      let found: number | null = null;
      for (let at = 0; at < response.length && found === null; at += size) {
        const piece = octets(response.slice(at, at + size));
        found = end.take(piece);
        length += found ?? piece.length;
      }
      expect(found).not.toBeNull();
      expect(length).toBe(response.length);
    }
  });

  test("leaves the octets after the response, and knows no end without a length", () => {
    const response = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n";
    expect(new ResponseEnd(get).take(octets(`${response}okHTTP`))).toBe(response.length + 2);
    expect(new ResponseEnd(get).take(octets("HTTP/1.1 200 OK\r\n\r\nbody"))).toBeNull();
  });

  test("passes on the final head, and the body without the framing of chunks", () => {
    const interim = "HTTP/1.1 100 Continue\r\n\r\n";
    const head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
    const response = `${interim}${head}5\r\nhello\r\n2\r\n w\r\n0\r\n\r\n`;
    for (let size = 1; size <= response.length; size++) {
      const heads: [string, number][] = [];
      let body = "";
      const end = new ResponseEnd(get, {
        onHead: (...received) => heads.push(received),
        onContent: (piece) => (body += new TextDecoder().decode(piece)),
      });
      for (let at = 0; at < response.length; at += size) {
        end.take(octets(response.slice(at, at + size)));
      }
      expect([heads, body]).toEqual([[[head, 200]], "hello w"]);
    }
  });
});
