import { once } from "node:events";
import { request as send, type IncomingMessage } from "node:http";
import { MessageChannel, type MessagePort } from "node:worker_threads";
import { describe, expect, it, onTestFinished } from "vitest";
import type { Publication } from "../replication/publication.ts";
import { OtherThreads, startPublicationServer } from "./publication-server.ts";
import {
  externalPath,
  logPath,
  observationPath,
  publicationPath,
  queriesPath,
  secretHeader,
} from "../replication/listener-protocol.ts";
import { serveThreadCalls, ThreadCaller } from "./thread-calls.ts";

const publications: Publication[] = [{ kind: "removed", zoneId: "z" }];

function channel(): MessageChannel {
  const made = new MessageChannel();
  onTestFinished(() => made.port1.close());
  return made;
}

describe("OtherThreads.apply()", () => {
  it("resolves when every thread has acknowledged, and not before", async () => {
    const [one, other] = [channel(), channel()];
    const threads = new OtherThreads([one.port1, other.port1]);
    const applying = Promise.withResolvers<void>();
    const arrived = Promise.withResolvers<readonly Publication[]>();
    serveThreadCalls(one.port2, { apply: async () => {} });
    serveThreadCalls(other.port2, {
      apply(given: readonly Publication[]) {
        arrived.resolve(given);
        return applying.promise;
      },
    });
    let sent = false;
    const sending = threads.apply(publications).then(() => (sent = true));
    expect(await arrived.promise).toEqual(publications);
    // After another message, the acknowledgement of the first thread has arrived.
    const more = channel();
    more.port2.postMessage(null);
    await once(more.port1, "message");
    expect(sent).toBe(false);
    applying.resolve();
    await sending;
  });

  it("does not wait for a thread that has ended or fails", async () => {
    const [gone, failing] = [channel(), channel()];
    const threads = new OtherThreads([gone.port1, failing.port1]);
    serveThreadCalls(failing.port2, {
      apply: () => Promise.reject(new Error("expected in this test")),
    });
    const sending = threads.apply(publications);
    gone.port2.close();
    await expect(sending).resolves.toBeUndefined();
    await expect(threads.apply(publications)).resolves.toBeUndefined();
  });
});

describe("OtherThreads.add()", () => {
  it("replaces a thread that has ended, through a port that a call has moved", async () => {
    const [gone, next, toFirst] = [channel(), channel(), channel()];
    const threads = new OtherThreads([gone.port1]);
    serveThreadCalls(toFirst.port2, { forwardTo: (port: MessagePort) => threads.add(port) });
    const ended = once(gone.port1, "close");
    gone.port2.close();
    await ended;
    const applied: unknown[] = [];
    serveThreadCalls(next.port2, { apply: (given: unknown) => void applied.push(given) });
    const first = new ThreadCaller<{ forwardTo: (port: MessagePort) => void }>(toFirst.port1);
    await first.call("forwardTo", next.port1);
    await threads.apply(publications);
    expect(applied).toEqual([publications]);
  });
});

describe("startPublicationServer()", () => {
  const secret = "secret-of-this-start";

  async function start() {
    const applied: unknown[] = [];
    const observed: unknown[] = [];
    const server = await startPublicationServer({
      secret,
      apply: async (given) => void applied.push(given),
      resolve: async () => "failed",
      countQueries: async () => [],
      observe: async (given) => void observed.push(given),
      loggedQueries: async () => [],
    });
    onTestFinished(() => server.stop());
    const post = async (path: string, headers: Record<string, string>, body = "[]") => {
      const sent = send(`http://${server.address}${path}`, { method: "POST", headers });
      sent.end(body);
      const [response] = (await once(sent, "response")) as [IncomingMessage];
      response.resume();
      return response.statusCode;
    };
    return { applied, observed, post };
  }

  it("passes on what servers observe, and returns their logs", async () => {
    const { observed, post } = await start();
    const observation = { faults: [], log: 1 };
    const headers = { [secretHeader]: secret };
    expect(await post(observationPath, headers, JSON.stringify(observation))).toBe(204);
    expect(await post(logPath, headers)).toBe(200);
    expect(await post(observationPath, {})).toBe(403);
    expect(observed).toEqual([observation]);
  });

  it("applies what has the secret and a loopback host", async () => {
    const { applied, post } = await start();
    expect(await post(publicationPath, { [secretHeader]: secret, host: "localhost" })).toBe(204);
    expect(await post(externalPath, { [secretHeader]: secret })).toBe(200);
    expect(await post(queriesPath, { [secretHeader]: secret })).toBe(200);
    expect(await post("/other", { [secretHeader]: secret })).toBe(404);
    expect(await post(publicationPath, { [secretHeader]: secret }, "{")).toBe(500);
    expect(applied).toEqual([[]]);
  });

  it("refuses other hosts, foreign pages and wrong secrets", async () => {
    const { applied, post } = await start();
    const refused: Record<string, string>[] = [
      {},
      { [secretHeader]: "" },
      { [secretHeader]: `${secret}x` },
      { [secretHeader]: secret.slice(1) },
      { [secretHeader]: secret, host: "evil.example" },
      { [secretHeader]: secret, origin: "https://evil.example" },
    ];
    for (const headers of refused) expect(await post(publicationPath, headers)).toBe(403);
    expect(applied).toEqual([]);
  });
});
