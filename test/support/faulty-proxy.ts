/**
 * An HTTP proxy in front of an S3 service that misbehaves on purpose. A rule decides for each request
 * which fault hits, and the proxy keeps a log of the requests.
 *
 * The head of a request is passed on as it arrives, `Host` included: a client signs a request for the
 * proxy's address, and the service verifies the signature with the `Host` that it receives.
 */
import { once } from "node:events";
import {
  Agent,
  createServer,
  request as sendRequest,
  type IncomingMessage,
  type ServerResponse,
} from "node:http";
import type { AddressInfo } from "node:net";
import { pipeline } from "node:stream/promises";
import { setTimeout as sleep } from "node:timers/promises";
import {
  FaultSchedule,
  toScheduleOptions,
  type FaultTiming,
} from "../../src/base/fault-schedule.ts";

export type ProxyFault =
  /** Waits before the request is passed on. */
  | { readonly kind: "delay"; readonly milliseconds: number }
  /** Closes the connection. The service never sees the request. */
  | { readonly kind: "drop" }
  /** The service executes the request; the connection is closed instead of an answer. */
  | { readonly kind: "lost answer" }
  /** Closes the connection in the middle of the answer's body. An answer without a body is lost. */
  | { readonly kind: "truncated answer" }
  /** Answers with an error, with or without the request being executed. */
  | { readonly kind: "error"; readonly status: 500 | 503; readonly isExecuted: boolean }
  /** Answers in the place of the service, with or without the request being executed. */
  | {
      readonly kind: "foreign answer";
      readonly answer: ForeignAnswer;
      readonly isExecuted: boolean;
      /** What happens before the answer is sent. */
      readonly meanwhile?: () => Promise<unknown>;
    }
  /** Never answers. The client has to give up. */
  | { readonly kind: "stall"; readonly isExecuted: boolean };

/** Of a server that is no S3 service, or of a service that is not well. */
export interface ForeignAnswer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly text?: string;
  /** Sends one octet of the text, and waits this long before the next. */
  readonly octetMilliseconds?: number;
}

interface ProxiedRequest {
  /** From 1, in the order of arrival. */
  readonly number: number;
  readonly method: string;
  /** The path and the query, as sent. */
  readonly path: string;
}

interface LoggedRequest extends ProxiedRequest {
  readonly fault: ProxyFault["kind"] | null;
  /** The status with which the service answered; `null` if it has not. */
  readonly serviceStatus: number | null;
}

export type ProxyRule = (request: ProxiedRequest) => ProxyFault | null;

export interface FaultyProxy {
  /** `http://127.0.0.1:PORT` */
  readonly endpoint: string;
  readonly log: readonly LoggedRequest[];
  /** The rule for the requests to come. */
  setRule(rule: ProxyRule): void;
  /** Closes all connections, stalled ones too. */
  close(): Promise<void>;
}

export interface ScheduledFault extends FaultTiming {
  readonly fault: ProxyFault;
  /** All requests by default. */
  readonly matches?: (request: ProxiedRequest) => boolean;
}

/** The first fault whose schedule hits a request. Each schedule counts each request that matches. */
export function scheduledFaults(faults: readonly ScheduledFault[]): ProxyRule {
  const schedules = faults.map(({ fault, matches = () => true, ...timing }) => {
    return { fault, matches, schedule: new FaultSchedule(toScheduleOptions(timing)) };
  });
  return (request) => {
    let hit: ProxyFault | null = null;
    for (const { fault, matches, schedule } of schedules) {
      if (matches(request) && schedule.countCall() !== null) hit ??= fault;
    }
    return hit;
  };
}

/** @param service the address of the S3 service: `http://127.0.0.1:PORT` */
export async function startFaultyProxy(
  service: string,
  firstRule: ProxyRule = () => null,
): Promise<FaultyProxy> {
  let rule = firstRule;
  const log: LoggedRequest[] = [];
  // A connection for each request: an idle connection that the service closes would be one more fault.
  const agent = new Agent({ keepAlive: false });
  const closing = new AbortController();

  const server = createServer({ requestTimeout: 0 }, (incoming, outgoing) => {
    outgoing.sendDate = false;
    const request = {
      number: log.length + 1,
      method: incoming.method ?? "",
      path: incoming.url ?? "",
    };
    const fault = rule(request);
    log.push({ ...request, fault: fault?.kind ?? null, serviceStatus: null });
    const execute = async (): Promise<IncomingMessage> => {
      const answer = await passOn(incoming, outgoing, service, agent);
      log[request.number - 1] = { ...log[request.number - 1]!, serviceStatus: answer.statusCode! };
      return answer;
    };
    // A service that breaks a connection breaks the client's too.
    handle({ incoming, outgoing, fault, execute, signal: closing.signal }).catch(() =>
      incoming.socket.destroy(),
    );
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    log,
    setRule(next) {
      rule = next;
    },
    async close() {
      closing.abort();
      const closed = once(server, "close");
      server.close();
      server.closeAllConnections();
      agent.destroy();
      await closed;
    },
  };
}

interface Exchange {
  readonly incoming: IncomingMessage;
  readonly outgoing: ServerResponse;
  readonly fault: ProxyFault | null;
  /** Passes the request on, and resolves with the head of the service's answer. */
  readonly execute: () => Promise<IncomingMessage>;
  readonly signal: AbortSignal;
}

async function handle({ incoming, outgoing, fault, execute, signal }: Exchange): Promise<void> {
  switch (fault?.kind) {
    case "drop":
      incoming.socket.destroy();
      return;
    case "lost answer":
      await readAll(await execute());
      incoming.socket.destroy();
      return;
    case "truncated answer":
      await answerInPart(await execute(), outgoing);
      return;
    case "error":
      await (fault.isExecuted ? execute().then(readAll) : readAll(incoming));
      answerError(outgoing, fault.status);
      return;
    case "foreign answer":
      await (fault.isExecuted ? execute().then(readAll) : readAll(incoming));
      await fault.meanwhile?.();
      await answerForeign(outgoing, {
        ...fault.answer,
        signal,
        isHead: incoming.method === "HEAD",
      });
      return;
    case "stall":
      await (fault.isExecuted ? execute().then(readAll) : readAll(incoming));
      return;
    case "delay":
      await sleep(fault.milliseconds, undefined, { signal });
      break;
    case undefined:
      break;
  }
  const answer = await execute();
  writeHead(answer, outgoing);
  await pipeline(answer, outgoing);
}

function passOn(
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  service: string,
  agent: Agent,
): Promise<IncomingMessage> {
  const { hostname, port } = new URL(service);
  const outward = sendRequest({
    hostname,
    port,
    agent,
    method: incoming.method,
    path: incoming.url,
    // As a list, so that names, order and repetitions stay, and nothing is added.
    headers: incoming.rawHeaders,
  });
  // A client that goes away ends its request to the service.
  outgoing.once("close", () => outward.destroy());
  incoming.pipe(outward);
  return new Promise((resolve, reject) => {
    outward.once("response", resolve).once("error", reject);
  });
}

function writeHead(answer: IncomingMessage, outgoing: ServerResponse): void {
  outgoing.writeHead(answer.statusCode ?? 502, answer.statusMessage ?? "", answer.rawHeaders);
}

async function answerInPart(answer: IncomingMessage, outgoing: ServerResponse): Promise<void> {
  const body = await readAll(answer);
  if (body.length === 0) {
    outgoing.socket?.destroy();
    return;
  }
  writeHead(answer, outgoing);
  const part = body.subarray(0, Math.floor(body.length / 2));
  await new Promise((resolve) => outgoing.write(part, resolve));
  outgoing.socket?.destroySoon();
}

function answerError(outgoing: ServerResponse, status: 500 | 503): void {
  const code = status === 500 ? "InternalError" : "SlowDown";
  const text = `<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>${code}</Code><Message>A fault of the test.</Message></Error>`;
  outgoing.writeHead(status, { "content-type": "application/xml" }).end(text);
}

async function answerForeign(
  outgoing: ServerResponse,
  {
    status,
    headers = {},
    text = "",
    octetMilliseconds,
    isHead,
    signal,
  }: ForeignAnswer & { readonly isHead: boolean; readonly signal: AbortSignal },
): Promise<void> {
  outgoing.writeHead(status, { "content-length": Buffer.byteLength(text), ...headers });
  const isSlow = octetMilliseconds !== undefined && !isHead;
  for (const octet of isSlow ? Buffer.from(text) : []) {
    if (outgoing.destroyed) return;
    outgoing.write(Buffer.of(octet));
    await sleep(octetMilliseconds, undefined, { signal });
  }
  outgoing.end(isSlow ? "" : text);
}

async function readAll(message: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of message) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}
