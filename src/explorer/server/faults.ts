/**
 * The faults of a store and of DNS, the latency, and the clock: holds what is wanted, and keeps it in force.
 *
 * Faults live in the runtimes, for as long as this process is connected to them: at the owner of the
 * store, and at the record API. A runtime that starts again gets them again as soon as it listens. So they
 * end with this process, also when the process is killed. The HTTP server of the explorer is not needed:
 * `ledge dev --fault` works without it.
 */
import * as v from "valibot";
import { UserError } from "../../base/user-error.ts";
import { parseFaultSpec, type ParsedFault } from "../../config/fault-spec.ts";
import { latencyMillisecondsMax } from "../../store/config/store-buckets.ts";
import { FaultsConnection, OwnerFaults } from "../../store/node/held-faults.ts";
import type { Faults, FaultsState } from "../api/faults.ts";
import { CallError, json, readInput, type DnsAccess, type Route } from "./call.ts";

interface StoreFaultsOptions {
  /** The folder of the store. */
  readonly folder: string;
  /** The buckets that exist: a fault of another bucket would hit no call. */
  readonly bucketNames: () => Promise<readonly string[]>;
  /** Those of them that are on an S3 service: the owner does not see their calls. */
  readonly remoteNames?: () => readonly string[];
  /** `null` when the project has no DNS. */
  readonly dns: () => Promise<DnsAccess | null>;
}

type BucketFault = Extract<ParsedFault, { subject: "bucket" }>["fault"];
type DnsFault = Extract<ParsedFault, { subject: "dns" }>["fault"];

export const noFaults: Faults = { faults: [], latencyMilliseconds: 0, clockOffsetMilliseconds: 0 };

export class StoreFaults {
  readonly #options: StoreFaultsOptions;
  readonly #store: OwnerFaults;
  readonly #dns: FaultsConnection<{ readonly faults: readonly DnsFault[] }, DnsReport>;
  #wanted: Faults = noFaults;
  /** Called after each change. */
  onChange = (): void => {};

  constructor(options: StoreFaultsOptions) {
    this.#options = options;
    this.#store = new OwnerFaults(options.folder);
    this.#dns = dnsConnection(options.dns);
  }

  async read(): Promise<Omit<FaultsState, "presets">> {
    const wanted = this.#wanted;
    const [store, dns] = await Promise.all([this.#store.report(), this.#dns.report()]);
    // Each place counts the hits of its faults in their order.
    const [bucketHits, dnsHits] = [[...(store?.hits ?? [])], [...(dns?.hits ?? [])]];
    const problems = [this.#store.problem, this.#dns.problem].filter((each) => each !== null);
    return {
      ...wanted,
      faults: wanted.faults.map((text) => ({
        text,
        hits: (isOfDns(text) ? dnsHits : bucketHits).shift() ?? 0,
      })),
      storeTime: store?.storeTime ?? Date.now(),
      problem: problems.length === 0 ? null : problems.join(" "),
    };
  }

  /**
   * Replaces all faults, or none if one of them cannot be read. When the promise resolves, they are in
   * force, or the state says why they are not.
   *
   * @throws CallError that quotes the fault
   */
  async change(given: Faults): Promise<Omit<FaultsState, "presets">> {
    const { bucketNames, remoteNames } = this.#options;
    const { latencyMilliseconds, clockOffsetMilliseconds } = checkedNumbers(given);
    // A fault that is given twice counts once.
    const texts = [...new Set(given.faults)];
    const names = { bucketNames: await bucketNames(), remoteNames: remoteNames?.() };
    const [bucketFaults, dnsFaults]: [BucketFault[], DnsFault[]] = [[], []];
    for (const text of texts) {
      const parsed = parseFault(text, names);
      if (parsed.subject === "dns") dnsFaults.push(parsed.fault);
      else bucketFaults.push(parsed.fault);
    }
    this.#wanted = { ...given, faults: texts };
    const isStoreUsual =
      bucketFaults.length === 0 && latencyMilliseconds === 0 && clockOffsetMilliseconds === 0;
    await Promise.all([
      this.#store.hold(
        isStoreUsual
          ? null
          : { faults: bucketFaults, latencyMilliseconds, clockOffsetMilliseconds },
      ),
      this.#dns.hold(dnsFaults.length === 0 ? null : { faults: dnsFaults }),
    ]);
    this.onChange();
    return this.read();
  }

  /** Settles when a runtime that has just started has the faults, or when it is known why not. */
  async renew(): Promise<void> {
    await this.change(this.#wanted);
  }

  /** Ends the faults. */
  async close(): Promise<void> {
    this.#wanted = noFaults;
    await Promise.all([this.#store.close(), this.#dns.close()]);
  }
}

function isOfDns(text: string): boolean {
  return text.startsWith("dns:");
}

const day = 86_400_000;
/** A hundred years: the clock stays within the years that HTTP dates can express. */
const clockOffsetMillisecondsMax = 36_500 * day;

/** @throws CallError */
function checkedNumbers(given: Faults): Faults {
  const { latencyMilliseconds: latency, clockOffsetMilliseconds: offset } = given;
  if (!Number.isInteger(latency) || latency < 0 || latency > latencyMillisecondsMax) {
    throw new CallError(
      400,
      `The latency ${latency} is not a whole number of milliseconds from 0 to ${latencyMillisecondsMax}.`,
    );
  }
  if (!Number.isInteger(offset) || Math.abs(offset) > clockOffsetMillisecondsMax) {
    throw new CallError(
      400,
      `The clock cannot be moved by ${offset}: give a whole number of milliseconds, at most 100 years.`,
    );
  }
  return given;
}

function parseFault(
  text: string,
  names: { bucketNames: readonly string[]; remoteNames: readonly string[] | undefined },
): ParsedFault {
  const { bucketNames, remoteNames = [] } = names;
  try {
    return parseFaultSpec(text, { name: "The fault", bucketNames, remoteNames });
  } catch (error) {
    throw error instanceof UserError ? new CallError(400, error.message) : error;
  }
}

interface DnsReport {
  /** How many queries each fault has hit, in the order of the faults. */
  readonly hits: readonly number[];
}

/** The faults of DNS queries are held at the record API (`worker/api/controls.ts`). */
function dnsConnection(
  dns: StoreFaultsOptions["dns"],
): FaultsConnection<{ readonly faults: readonly DnsFault[] }, DnsReport> {
  return new FaultsConnection({
    findPlace: async () => {
      const access = await dns();
      if (access === null) {
        throw new UserError("DNS does not run, so the faults of DNS queries are not in force.");
      }
      const { hostname, port, host } = new URL(access.apiUrl);
      return {
        // The address of an IPv6 host stands in brackets.
        address: { host: hostname.replaceAll(/[[\]]/g, ""), port: Number(port || 80) },
        path: "/ledge/query_faults",
        headers: { host, ...access.headers },
      };
    },
    explain: ({ message }) =>
      `The record API does not take the faults of DNS queries (${message}). They are sent again until it does.`,
  });
}

const bucketPresets: FaultsState["presets"] = [
  {
    label: "All writes fail",
    text: "put,delete,createMultipartUpload,uploadPart,completeMultipartUpload,abortMultipartUpload:*:10001",
  },
  { label: "Reads drop half-way", text: "get:*:drop" },
  { label: "Writes are stored, their answers are lost", text: "put:*:drop:when=after" },
  { label: "Half of the writes are too many requests", text: "put:*:10058:probability=0.5" },
];
const dnsPresets: FaultsState["presets"] = [
  { label: "The name server answers SERVFAIL", text: "dns:servfail:*" },
  { label: "The name server does not answer", text: "dns:drop:*" },
];

const faultsSchema = v.object({
  faults: v.array(v.string("must be text"), "must be a list of texts"),
  latencyMilliseconds: v.number("must be a number"),
  clockOffsetMilliseconds: v.number("must be a number"),
});

/** @param hasDns whether the project has a name server */
export function faultRoutes(faults: StoreFaults, hasDns: () => Promise<boolean>): readonly Route[] {
  const path = "/api/faults";
  const describe = async (state: Omit<FaultsState, "presets">) => {
    const presets = (await hasDns()) ? [...bucketPresets, ...dnsPresets] : bucketPresets;
    return json({ ...state, presets } satisfies FaultsState);
  };
  return [
    { method: "GET", path, handle: async () => describe(await faults.read()) },
    {
      method: "PUT",
      path,
      handle: async (call) => describe(await faults.change(await readInput(call, faultsSchema))),
    },
  ];
}
