/** Writes a response to Node's HTTP server, no faster than the client reads. */
import type { ServerResponse } from "node:http";
import type { S3Content, S3Response } from "../s3-request.ts";

/** Resolves when the response has been sent, or when the client has gone away. */
export async function sendResponse(
  response: ServerResponse,
  { status, headers, body }: S3Response,
  isHead: boolean,
): Promise<void> {
  if (typeof body === "object" && !(body instanceof Uint8Array)) {
    await sendContent(response.writeHead(status, headers), body);
    return;
  }
  const bytes = isHead || body === undefined ? null : bytesOf(body);
  // Without a length, Node would send the body in chunks.
  const length = bytes === null ? undefined : { "content-length": String(bytes.length) };
  response.writeHead(status, { ...headers, ...length });
  response.end(bytes);
}

async function sendContent(response: ServerResponse, content: S3Content): Promise<void> {
  try {
    for await (const chunk of content.chunks()) {
      // The memory of a chunk is used again, so the system must have the bytes first.
      await writeChunk(response, chunk);
    }
    response.end();
  } catch (error) {
    // The client sees a response that is too short, and takes nothing for the whole object.
    response.destroy();
    if (!(error instanceof ClientGoneError)) throw error;
  } finally {
    content.close();
  }
}

function writeChunk(response: ServerResponse, chunk: Uint8Array): Promise<void> {
  return new Promise((resolve, reject) => {
    if (response.destroyed) {
      reject(new ClientGoneError());
      return;
    }
    response.write(chunk, (error) => {
      if (error == null) resolve();
      else reject(new ClientGoneError());
    });
  });
}

class ClientGoneError extends Error {
  override readonly name = "ClientGoneError";
}

function bytesOf(body: string | Uint8Array): Uint8Array {
  return typeof body === "string" ? Buffer.from(body) : body;
}
