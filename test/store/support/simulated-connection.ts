/** Connections to services that a test simulates. */
import { createContext, type RemoteContext } from "../../../src/store/remote/remote-context.ts";
import { noFeatures } from "../../../src/store/remote/remote-options.ts";
import { S3Connection } from "../../../src/store/remote/s3-connection.ts";
import type { S3Answer, S3Message } from "../../../src/store/remote/s3-transport.ts";

export const place = {
  remote: "cluster",
  endpoint: "https://s3.example.net",
  region: "us-east-1",
  bucketName: "photos",
  prefix: "team/",
};

/** @param respond is given the URL of the message as well */
export function simulatedConnection(
  respond: (url: URL, message: S3Message) => S3Answer | Promise<S3Answer>,
): S3Connection {
  const send = (message: S3Message) =>
    Promise.resolve(respond(new URL(message.origin + message.target), message));
  const credentials = { accessKeyId: "id", secretAccessKey: "secret" };
  return new S3Connection(place, credentials, send, { sleep: () => Promise.resolve() });
}

/** The context of a bucket on such a service, without content in a spool, at the epoch. */
export function simulatedContext(
  respond: (url: URL, message: S3Message) => S3Answer,
): RemoteContext {
  const spool = {
    open: () => Promise.reject(new Error("unused")),
    remove: () => Promise.resolve(),
  };
  const connection = simulatedConnection(respond);
  return createContext({
    connection,
    features: noFeatures,
    spool,
    now: () => 0,
    pause: async () => {},
  });
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
