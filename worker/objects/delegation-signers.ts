/**
 * The DS records that zones of this server have for each other. A zone tells its parent zone when
 * its keys change (`announce`), and a parent zone asks its child when the NS records of a delegation
 * change (`find`). Either way the parent decides by what it has: it sets the DS record only beside
 * NS records, and removes only a record that was set here.
 */
import type { DelegationSigner } from "../../src/dns/rules/dnssec-state.ts";
import { indexName, type Env } from "./environment.ts";
import type { ObjectReply } from "./object-reply.ts";
import type { ZoneTransaction } from "./zone-transaction.ts";

/** The part of `ZoneObject` that is called here: the class depends on this file. */
interface SigningZone extends Rpc.DurableObjectBranded {
  delegationSigner(): DelegationSigner | null;
  hasDelegationSigner(child: string, digest: string): boolean;
  setDelegationSigner(child: string, signer: DelegationSigner | null): Promise<ObjectReply>;
}

export class DelegationSigners {
  readonly #env: Env;

  constructor(env: Env) {
    this.#env = env;
  }

  /** The zone that contains the delegation of a zone; `null` when it is not a zone of this server. */
  async #parentOf(child: string): Promise<DurableObjectStub<SigningZone> | null> {
    const parentName = child.slice(child.indexOf(".") + 1);
    if (!child.includes(".")) return null;
    const parent = await this.#env.ZONE_INDEX.getByName(indexName).findFor(parentName);
    return parent === null ? null : this.#zone(parent.id);
  }

  #zone(id: string): DurableObjectStub<SigningZone> {
    return this.#env.ZONES.getByName(id) as unknown as DurableObjectStub<SigningZone>;
  }

  /** @param signer `null`: the zone is not signed */
  async announce(child: string, signer: DelegationSigner | null): Promise<void> {
    const parent = await this.#parentOf(child);
    await parent?.setDelegationSigner(child, signer);
  }

  /** Whether the parent zone has the DS record; also when the parent is not a zone of this server. */
  async isSet(child: string, digest: string): Promise<boolean> {
    const parent = await this.#parentOf(child);
    return parent === null || (await parent.hasDelegationSigner(child, digest));
  }

  /** The DS record for a delegated name, if the zone with that name is here and is signed. */
  async find(name: string): Promise<DelegationSigner | null> {
    const zone = await this.#env.ZONE_INDEX.getByName(indexName).findFor(name);
    return zone?.name === name ? await this.#zone(zone.id).delegationSigner() : null;
  }
}

/** In a transaction of the parent zone: makes its DS record for a delegated name right. */
export function settleDelegationSigner(
  transaction: ZoneTransaction,
  child: string,
  signer: DelegationSigner | null,
): void {
  const { records, state } = transaction.context;
  const { [child]: ownId, ...others } = state.delegationSigners;
  const existing = records.named(child);
  const own = existing.find(({ id }) => id === ownId);
  const isDelegated = existing.some(({ type }) => type === "NS");
  const wanted = isDelegated ? signer : null;
  if (wanted !== null) {
    const isThere = existing.some(
      ({ type, content }) => type === "DS" && content.endsWith(` ${wanted.digest}`),
    );
    if (isThere) return;
  }
  if (own !== undefined) transaction.remove(own.id);
  if (wanted !== null) {
    const comment = "Set by DNSSEC of the delegated zone";
    const request = { type: "DS", name: child, data: wanted, ttl: 1, comment };
    state.delegationSigners = { ...others, [child]: transaction.create(request).id };
  } else if (ownId !== undefined) {
    state.delegationSigners = others;
  }
}
