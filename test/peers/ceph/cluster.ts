/**
 * A temporary Ceph cluster with its S3 gateway on loopback: a monitor, a manager, a storage daemon
 * with its content in a sparse file, and radosgw. install.sh has unpacked the programs, in-root.sh
 * runs each. All state is in one temporary folder, so several clusters can run at a time.
 *
 * The daemons stay children of this process, and the kernel ends them when this process dies.
 */
import { randomUUID } from "node:crypto";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { AwsClient } from "aws4fetch";
import { freePort } from "../../support/free-port.ts";
import { cephConfiguration, type CephAddresses } from "./configuration.ts";
import { Daemon, runProgram, type CephPlace } from "./programs.ts";

export type CephRelease = "newest" | "reef";

/** What a client needs. Plain data, which a test run hands to its workers. */
export interface CephService {
  /** `http://127.0.0.1:PORT` */
  readonly endpoint: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  /** `20.2.4` */
  readonly version: string;
}

export interface CephCluster extends CephService {
  createBucket(name: string): Promise<void>;
  /** Ends the gateway at once. Its clients see broken connections. */
  killGateway(): Promise<void>;
  /** Resolves when the gateway answers. */
  restartGateway(): Promise<void>;
  /** Ends the storage daemon at once. Requests to the gateway wait until it is back. */
  killOsd(): Promise<void>;
  /** Resolves when the gateway can write again. */
  restartOsd(): Promise<void>;
  /** Ends all daemons and removes the data. */
  stop(): Promise<void>;
}

const startMillisecondsMax = 180_000;
/** Writing the object needs the gateway and the storage daemon. */
const probeBucket = "/ledge-is-writable";
const probeObject = `${probeBucket}/object`;

/** The version that install.sh has unpacked, or `null`. */
export function installedCephVersion(release: CephRelease = "newest"): string | null {
  const file = join(cephFolder(release), "version");
  if (!existsSync(file)) return null;
  return /ceph version (\S+)/.exec(readFileSync(file, "utf8"))?.[1] ?? null;
}

/** @throws Error with the end of the daemons' logs; nothing stays running then */
export async function startCeph(
  release: CephRelease = "newest",
  configurationOf: (addresses: CephAddresses) => string = cephConfiguration,
): Promise<CephCluster> {
  const version = installedCephVersion(release);
  if (version === null) {
    const option = release === "newest" ? "" : ` --${release}`;
    throw new Error(`Ceph is not installed: run test/peers/ceph/install.sh${option}.`);
  }
  const data = mkdtempSync(join(tmpdir(), "ledge-ceph-"));
  const place = { root: join(cephFolder(release), "root"), data };
  const cluster = new LocalCluster(place, version, await freePort(), await freePort());
  try {
    await cluster.start(configurationOf);
    return cluster;
  } catch (error) {
    const logs = cluster.logs();
    await cluster.stop();
    throw new Error(`Ceph ${version} did not start: ${String(error)}\n${logs}`, { cause: error });
  }
}

class LocalCluster implements CephCluster {
  readonly endpoint: string;
  readonly accessKeyId = "ledge-access-key";
  readonly secretAccessKey = "ledge-secret-key";
  readonly version: string;
  readonly #place: CephPlace;
  readonly #monitorPort: number;
  readonly #client: AwsClient;
  readonly #monitor: Daemon;
  readonly #manager: Daemon;
  readonly #osd: Daemon;
  readonly #gateway: Daemon;

  constructor(place: CephPlace, version: string, monitorPort: number, gatewayPort: number) {
    this.#place = place;
    this.version = version;
    this.#monitorPort = monitorPort;
    this.endpoint = `http://127.0.0.1:${gatewayPort}`;
    this.#client = new AwsClient({
      accessKeyId: this.accessKeyId,
      secretAccessKey: this.secretAccessKey,
      service: "s3",
      region: "us-east-1",
      retries: 0,
    });
    this.#monitor = new Daemon(place, "mon", ["ceph-mon", "-f", "-i", "a"]);
    this.#manager = new Daemon(place, "mgr", ["ceph-mgr", "-f", "-i", "x"]);
    this.#osd = new Daemon(place, "osd", ["ceph-osd", "-f", "-i", "0"]);
    this.#gateway = new Daemon(place, "gateway", ["radosgw", "-f", "-n", "client.admin"]);
  }

  async start(configurationOf: (addresses: CephAddresses) => string): Promise<void> {
    const [fsid, osdId] = [randomUUID(), randomUUID()];
    const { data } = this.#place;
    for (const folder of ["mon", "mgr", "osd", "run"]) mkdirSync(join(data, folder));
    const gatewayAddress = this.endpoint.slice("http://".length);
    const monitorAddress = `v2:127.0.0.1:${this.#monitorPort}`;
    writeFileSync(
      join(data, "ceph.conf"),
      configurationOf({ fsid, monitorAddress, gatewayAddress }),
    );
    const started = await Promise.allSettled([
      this.#startMonitor(fsid, monitorAddress, osdId),
      this.#run("ceph-osd", "-i", "0", "--mkfs", "--osd-uuid", osdId, "--no-mon-config"),
    ]);
    // Both have ended, so that no program starts after a failure.
    for (const each of started) if (each.status === "rejected") throw each.reason;
    this.#manager.start();
    this.#osd.start();
    // Also creates the pools of the gateway, for which it waits for the storage daemon.
    const keys = ["--access-key", this.accessKeyId, "--secret-key", this.secretAccessKey];
    const user = ["--uid", "ledge", "--display-name", "Ledge", ...keys];
    await this.#run("radosgw-admin", "user", "create", ...user);
    this.#gateway.start();
    // A new gateway answers 500 until it has created its last pools.
    await this.#untilSuccess(probeBucket);
    await this.#untilSuccess(probeObject);
  }

  async #startMonitor(fsid: string, address: string, osdId: string): Promise<void> {
    const map = "/cluster/monmap";
    await this.#run("monmaptool", "--create", "--fsid", fsid, "--addv", "a", `[${address}]`, map);
    await this.#run("ceph-mon", "--mkfs", "-i", "a", "--monmap", map, "--keyring", "/dev/null");
    this.#monitor.start();
    await this.#run("ceph", "osd", "new", osdId, "0");
  }

  async createBucket(name: string): Promise<void> {
    const answer = await this.#client.fetch(`${this.endpoint}/${name}`, { method: "PUT" });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`Bucket "${name}" was not created: ${answer.status} ${text}`);
  }

  killGateway(): Promise<void> {
    return this.#gateway.kill();
  }

  async restartGateway(): Promise<void> {
    this.#gateway.start();
    await this.#untilSuccess(probeObject);
  }

  killOsd(): Promise<void> {
    return this.#osd.kill();
  }

  async restartOsd(): Promise<void> {
    this.#osd.start();
    await this.#untilSuccess(probeObject);
  }

  async stop(): Promise<void> {
    const daemons = [this.#gateway, this.#osd, this.#manager, this.#monitor];
    // The data is removed, so no daemon needs to end in order.
    await Promise.all(daemons.map((daemon) => daemon.kill()));
    rmSync(this.#place.data, { recursive: true, force: true });
  }

  logs(): string {
    const daemons = [this.#monitor, this.#manager, this.#osd, this.#gateway];
    return daemons.map((daemon) => daemon.logEnd()).join("\n");
  }

  /** Repeats a PUT until it succeeds. */
  async #untilSuccess(path: string): Promise<void> {
    const end = Date.now() + startMillisecondsMax;
    for (;;) {
      this.#failIfEnded();
      try {
        const signal = AbortSignal.timeout(5_000);
        const answer = await this.#client.fetch(this.endpoint + path, { method: "PUT", signal });
        const text = await answer.text();
        if (answer.ok) return;
        throw new Error(`PUT ${path} is answered with ${answer.status} ${text}`);
      } catch (error) {
        if (Date.now() > end) throw error;
      }
      await sleep(50);
    }
  }

  #failIfEnded(): void {
    for (const daemon of [this.#monitor, this.#osd, this.#gateway]) daemon.failIfEnded();
  }

  #run(...command: string[]): Promise<string> {
    return runProgram(this.#place, command, startMillisecondsMax);
  }
}

function cephFolder(release: CephRelease): string {
  const beside = new URL("../../../node_modules/.cache/ledge-ceph", import.meta.url);
  return join(process.env["LEDGE_CEPH_FOLDER"] ?? fileURLToPath(beside), release);
}
