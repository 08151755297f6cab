/**
 * The unusual conditions of a store and of DNS: holds what is wanted, and keeps it in force.
 *
 * The conditions live in the runtimes, for as long as this process is connected to them: at the owner
 * of the store, and at the record API. A runtime that starts again gets them again as soon as it
 * listens. So they end with this process, also when the process is killed. The HTTP server of the
 * explorer is not needed: `ledge dev --fault` works without it.
 */
import { OwnerConditions } from "../../store/node/held-conditions.ts";
import type { Conditions, ConditionsState } from "../api/conditions.ts";
import type { DnsAccess } from "./dns-follower.ts";
import { dnsConditions, type DnsConditions } from "./dns-conditions.ts";
import { readConditions, usualConditions } from "./wanted-conditions.ts";

interface StoreConditionsOptions {
  /** The folder of the store. */
  readonly folder: string;
  /** The buckets that exist: a fault of another bucket would hit no call. */
  readonly bucketNames: () => Promise<readonly string[]>;
  /** Those of them that are on an S3 service: the owner does not see their calls. */
  readonly remoteNames?: () => readonly string[];
  /** `null` when the project has no DNS. */
  readonly dns: () => Promise<DnsAccess | null>;
}

export class StoreConditions {
  readonly #options: StoreConditionsOptions;
  readonly #store: OwnerConditions;
  readonly #dns: DnsConditions;
  #conditions: Conditions = usualConditions;
  /** Called after each change. */
  onChange = (): void => {};

  constructor(options: StoreConditionsOptions) {
    this.#options = options;
    this.#store = new OwnerConditions(options.folder);
    this.#dns = dnsConditions(options.dns);
  }

  async read(): Promise<ConditionsState> {
    const conditions = this.#conditions;
    const [store, dns] = await Promise.all([this.#store.report(), this.#dns.report()]);
    const hits = new Map<string, number>();
    for (const [index, { text }] of conditions.bucketFaults.entries()) {
      hits.set(text, store?.hits[index] ?? 0);
    }
    for (const [index, { text }] of conditions.dnsFaults.entries()) {
      hits.set(text, dns?.hits[index] ?? 0);
    }
    const problems = [this.#store.problem, this.#dns.problem].filter((each) => each !== null);
    return {
      ...conditions,
      hits: Object.fromEntries(hits),
      storeTime: store?.storeTime ?? Date.now(),
      problem: problems.length === 0 ? null : problems.join(" "),
    };
  }

  /**
   * Replaces all conditions, or none if one of them cannot be read.
   *
   * @throws CallError that quotes the fault
   */
  async change(conditions: Conditions): Promise<ConditionsState> {
    const { bucketNames, remoteNames } = this.#options;
    const wanted = readConditions(conditions, await bucketNames(), remoteNames?.());
    const { given, bucketFaults: faults, dnsFaults } = wanted;
    const { latencyMilliseconds, clockOffsetMilliseconds } = given;
    this.#conditions = given;
    const isStoreUsual =
      faults.length === 0 && latencyMilliseconds === 0 && clockOffsetMilliseconds === 0;
    await Promise.all([
      this.#store.hold(
        isStoreUsual ? null : { faults, latencyMilliseconds, clockOffsetMilliseconds },
      ),
      this.#dns.hold(dnsFaults.length === 0 ? null : { faults: dnsFaults }),
    ]);
    this.onChange();
    return this.read();
  }

  /** Ends the conditions. */
  async close(): Promise<void> {
    this.#conditions = usualConditions;
    await Promise.all([this.#store.close(), this.#dns.close()]);
  }
}
