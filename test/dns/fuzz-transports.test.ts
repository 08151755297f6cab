/**
 * Mutated packets, by UDP and by TCP: the server keeps running, sends no answer or a valid one, and
 * its memory does not grow. It runs in a separate process, so that its memory can be measured and a
 * crash does not end the test.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { connect } from "node:net";
import { createInterface } from "node:readline";
import { createSocket } from "node:dgram";
import { fileURLToPath } from "node:url";
import { afterAll, expect, test } from "vitest";
import { UdpClient, withLength } from "./support/dns-client.ts";
import { mutations } from "./support/mutation.ts";

/** Continuous integration sends 1,000,000. */
const packetCount = Number(process.env["LEDGE_FUZZ_PACKETS"] ?? 30_000);
const seed = Number(process.env["LEDGE_FUZZ_SEED"] ?? 20_261_115);
/** Packets sent before the test waits for answers. */
const burstSize = 256;
/** Growth of caches and buffers that is allowed after the first tenth of the packets. */
const growthMebibytesMax = 200;

/** NOERROR, FORMERR, NXDOMAIN, NOTIMP, REFUSED, NOTAUTH; BADVERS has 0 in the header. */
const rcodes = new Set([0, 1, 3, 4, 5, 9]);

const program = fileURLToPath(new URL("support/dns-process.ts", import.meta.url));
const child = spawn(process.execPath, [program], { stdio: ["ignore", "pipe", "inherit"] });
const [line] = (await once(createInterface(child.stdout), "line")) as [string];
const port = Number(line);
afterAll(async () => {
  const ended = once(child, "exit");
  child.kill("SIGTERM");
  await ended;
});

function residentMebibytes(): number {
  const status = readFileSync(`/proc/${child.pid}/status`, "utf8");
  return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1024;
}

async function expectAlive(): Promise<void> {
  expect(child.exitCode).toBeNull();
  const dnsClient = new UdpClient(port);
  const answer = await dnsClient.ask("www.example.org", "A");
  expect(answer.answers).toMatchObject([{ data: "192.0.2.1" }]);
  dnsClient.close();
}

/** Checks that a packet is a response with an expected code. */
function check(answer: Uint8Array): void {
  const isValid = answer.length >= 12 && (answer[2]! & 0x80) !== 0 && rcodes.has(answer[3]! & 0x0f);
  if (!isValid) throw new Error(`Not a valid response: ${Buffer.from(answer).toString("hex")}`);
}

async function fuzzUdp(count: number): Promise<number> {
  const socket = createSocket("udp4");
  let answered = 0;
  let found: (() => void) | null = null;
  // An intact query ends each burst: its answer shows that the server has read the rest.
  const marker = Buffer.from(
    "ffff01000001000000000000037777770765786d706c65036f72670000010001",
    "hex",
  );
  socket.on("message", (answer) => {
    if (answer[0] === 0xff && answer[1] === 0xff) found?.();
    else {
      answered += 1;
      check(answer);
    }
  });
  const packets = mutations(seed);
  for (let sent = 0; sent < count; sent += burstSize) {
    for (let at = 0; at < burstSize; at++) {
      const packet = packets.next().value;
      if (packet[0] === 0xff && packet[1] === 0xff) packet[0] = 0;
      socket.send(packet, port, "127.0.0.1");
    }
    await new Promise<void>((resolve) => {
      const retry = setInterval(() => socket.send(marker, port, "127.0.0.1"), 1000);
      found = () => {
        clearInterval(retry);
        resolve();
      };
      socket.send(marker, port, "127.0.0.1");
    });
  }
  socket.close();
  return answered;
}

/** Mutated packets in valid frames, and sometimes an invalid frame. */
async function fuzzTcp(count: number): Promise<void> {
  const packets = mutations(seed + 1);
  for (let sent = 0; sent < count;) {
    const socket = connect({ port, host: "127.0.0.1" });
    socket.on("error", () => {});
    socket.resume();
    await once(socket, "connect");
    for (let burst = 0; burst < 20 && sent < count; burst++) {
      const frames = Array.from({ length: burstSize }, () => withLength(packets.next().value));
      sent += burstSize;
      const bytes = Buffer.concat(frames);
      // The last frame of a connection lacks an octet.
      const end = burst === 19 ? bytes.length - 1 : bytes.length;
      if (!socket.write(bytes.subarray(0, end)) && !socket.destroyed) await once(socket, "drain");
    }
    const closed = new Promise((resolve) => socket.once("close", resolve));
    socket.end();
    await closed;
  }
}

test(
  `the server survives ${packetCount} mutated packets with bounded memory (seed ${seed})`,
  async () => {
    const share = Math.ceil(packetCount / 2);
    await Promise.all([fuzzUdp(share / 10), fuzzTcp(share / 10)]);
    await expectAlive();
    const before = residentMebibytes();
    const [answered] = await Promise.all([fuzzUdp(share), fuzzTcp(share)]);
    expect(answered).toBeGreaterThan(share / 10);
    await expectAlive();
    expect(residentMebibytes() - before).toBeLessThan(growthMebibytesMax);
  },
  60_000 + packetCount,
);
