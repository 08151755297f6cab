/** Connections to services that a test simulates. */
import { S3Connection } from "./s3-connection.ts";
import type { S3Answer, S3Message } from "./s3-transport.ts";

const place = {
  remote: "cluster",
  endpoint: "https://s3.example.net",
  region: "us-east-1",
  bucketName: "photos",
  prefix: "team/",
};

/** @param respond is given the URL of the message as well */
export function simulatedConnection(
  respond: (url: URL, message: S3Message) => S3Answer,
): S3Connection {
  const send = (message: S3Message) =>
    Promise.resolve(respond(new URL(message.origin + message.target), message));
  const credentials = { accessKeyId: "id", secretAccessKey: "secret" };
  return new S3Connection(place, credentials, send, { sleep: () => Promise.resolve() });
}

export function simulatedAnswer(
  status: number,
  { text = "", ...headers }: Readonly<Record<string, string>> = {},
): S3Answer {
  return {
    status,
    headers: new Headers(headers),
    body: text === "" ? null : new Response(text).body,
  };
}
