/**
 * DNSSEC of one zone. Turning it on publishes the keys before the parent zone has the DS record, and
 * turning it off removes the DS record first: at no time does a parent announce keys that the zone
 * does not have.
 */
import {
  delegationSigner,
  describeDnssec,
  type DelegationSigner,
  type DnssecPatch,
  type DnssecState,
  type DnssecStatus,
} from "../../src/dns/rules/dnssec-state.ts";
import type { DelegationSigners } from "./delegation-signers.ts";
import { replyToError, replyWith, type ObjectReply } from "./object-reply.ts";
import type { ZoneDatabase } from "./zone-database.ts";
import { makeZoneKeys } from "./zone-keys.ts";

export class ZoneDnssec {
  readonly #database: ZoneDatabase;
  readonly #delegations: DelegationSigners;

  constructor(database: ZoneDatabase, delegations: DelegationSigners) {
    this.#database = database;
    this.#delegations = delegations;
  }

  /** `null` when the zone is not signed. */
  get signer(): DelegationSigner | null {
    const { identity, state } = this.#database;
    const dnssec = identity === null ? null : state.dnssec;
    return dnssec?.isOn === true ? delegationSigner(dnssec.keys) : null;
  }

  /** Whether this zone has the DS record of a zone below. */
  hasSignerOf(child: string, digest: string): boolean {
    const { identity, records } = this.#database;
    const existing = identity === null ? [] : records.named(child);
    return existing.some(({ type, content }) => type === "DS" && content.endsWith(` ${digest}`));
  }

  read(): Promise<ObjectReply> {
    return this.#reply(async () => {});
  }

  change(patch: DnssecPatch): Promise<ObjectReply> {
    return this.#reply(() => this.#change(patch));
  }

  /** Turns DNSSEC off and forgets the keys. The deployed service answers with an empty text. */
  async remove(): Promise<ObjectReply> {
    const reply = await this.#reply(() => this.#remove());
    return reply.ok ? replyWith("") : reply;
  }

  /** Publishes the head of the zone again, after a change of faults. */
  async republish(): Promise<void> {
    if (this.#database.identity === null) return;
    this.#database.writeState(() => {});
    await this.#database.published();
  }

  async #reply(work: () => Promise<void>): Promise<ObjectReply> {
    try {
      await work();
      return replyWith(await this.#describe());
    } catch (error) {
      return replyToError(error);
    }
  }

  async #describe(): Promise<Record<string, unknown>> {
    const { name } = this.#database.requireIdentity();
    const { signer } = this;
    let status: DnssecStatus = "disabled";
    if (signer !== null) {
      status = (await this.#delegations.isSet(name, signer.digest)) ? "active" : "pending";
    }
    return describeDnssec(name, this.#database.state.dnssec, status);
  }

  /** A repeated call changes nothing. */
  async #change({ isOn, isMultiSigner }: DnssecPatch): Promise<void> {
    const { name } = this.#database.requireIdentity();
    if (isOn === false) await this.#delegations.announce(name, null);
    const needsKeys = isOn === true || isMultiSigner === true;
    const isNew = this.#database.state.dnssec === null;
    const made = needsKeys && isNew ? await makeZoneKeys(name) : null;
    // Another call may have made keys meanwhile.
    const current = this.#database.state.dnssec;
    const keys = current?.keys ?? made;
    if (keys === null) return;
    const next = {
      keys,
      isOn: isOn ?? current?.isOn ?? false,
      isMultiSigner: isMultiSigner ?? current?.isMultiSigner ?? false,
    };
    if (current?.isOn !== next.isOn || current.isMultiSigner !== next.isMultiSigner) {
      this.#write({ ...next, modifiedOn: new Date().toISOString() });
    }
    await this.#database.published();
    if (next.isOn) await this.#delegations.announce(name, delegationSigner(keys));
  }

  async #remove(): Promise<void> {
    const { name } = this.#database.requireIdentity();
    await this.#delegations.announce(name, null);
    if (this.#database.state.dnssec !== null) this.#write(null);
    await this.#database.published();
  }

  #write(next: DnssecState | null): void {
    this.#database.writeState((state) => {
      state.dnssec = next;
    });
  }
}
