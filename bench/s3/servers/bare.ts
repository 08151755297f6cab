/**
 * A plain HTTP server of Node that stores nothing and verifies nothing: the time that HTTP and the
 * client take. It reads every body, and answers as the others do in form: `get` sends as many bytes
 * as the key says (`objects/1048576/7`), and `list` sends a page of the wanted length.
 */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { serveUntilEnd } from "../server-process.ts";

const piece = Buffer.alloc(1024 * 1024, "bare");
const etag = '"0123456789abcdef0123456789abcdef"';

const server = createServer((request, response) => {
  if (request.method === "PUT" || request.method === "POST") {
    request.on("data", () => {});
    request.on("end", () => answerWrite(request, response));
  } else answerRead(request, response);
});

function answerWrite(request: IncomingMessage, response: ServerResponse): void {
  response.setHeader("etag", etag);
  if (request.method === "PUT") response.end();
  else response.end("<Result><UploadId>upload</UploadId></Result>");
}

function answerRead({ method, url = "" }: IncomingMessage, response: ServerResponse): void {
  const maxKeys = /[?&]max-keys=(\d+)/.exec(url)?.[1];
  if (method === "DELETE") response.writeHead(204).end();
  else if (maxKeys !== undefined) response.end(page(Number(maxKeys)));
  else {
    const size = Number(/\/objects\/(\d+)\//.exec(url)?.[1] ?? 0);
    response.writeHead(200, { etag, "content-length": size });
    if (method === "HEAD") response.end();
    else sendBytes(response, size);
  }
}

function sendBytes(response: ServerResponse, size: number): void {
  if (size <= piece.length) response.end(piece.subarray(0, size));
  else response.write(piece, () => sendBytes(response, size - piece.length));
}

const pages = new Map<number, string>();

function page(count: number): string {
  let text = pages.get(count);
  if (text === undefined) {
    const entries = Array.from(
      { length: count },
      (_, n) => `<Contents><Key>list/${n}</Key><ETag>${etag}</ETag><Size>1024</Size></Contents>`,
    );
    text = `<ListBucketResult>${entries.join("")}</ListBucketResult>`;
    pages.set(count, text);
  }
  return text;
}

await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
const { port } = server.address() as AddressInfo;
await serveUntilEnd({ port, path: "/bench", accessKeyId: "bench", secretAccessKey: "bench" });
server.close();
server.closeAllConnections();
