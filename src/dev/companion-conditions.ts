/** The unusual conditions of a dev server: those of `--fault`, until the explorer changes them. */
import { pluginFolder } from "../state/folder.ts";
import { UserError } from "../base/user-error.ts";
import { CallError } from "../explorer/server/call.ts";
import type { ConditionsControl } from "../explorer/server/conditions-control.ts";
import type { DnsAccess } from "../explorer/server/context.ts";
import { StoreConditions } from "../explorer/server/store-conditions.ts";
import { conditionsOfFaults } from "../explorer/server/wanted-conditions.ts";

interface CompanionConditionsOptions {
  readonly stateFolder: string;
  readonly bucketNames: () => readonly string[];
  /** Those of them that are on an S3 service. */
  readonly remoteNames: () => readonly string[];
  readonly dns: () => Promise<DnsAccess | null>;
}

export class CompanionConditions {
  readonly #conditions: StoreConditions;

  constructor({ stateFolder, bucketNames, remoteNames, dns }: CompanionConditionsOptions) {
    this.#conditions = new StoreConditions({
      folder: pluginFolder(stateFolder, "store"),
      bucketNames: async () => bucketNames(),
      remoteNames,
      dns,
    });
  }

  get control(): ConditionsControl {
    return this.#conditions;
  }

  /** @throws UserError for a fault that could hit no call */
  async hold(faults: readonly string[] = []): Promise<void> {
    if (faults.length === 0) return;
    try {
      await this.#conditions.change(conditionsOfFaults(faults));
    } catch (error) {
      throw error instanceof CallError ? new UserError(error.message) : error;
    }
  }

  /** Settles when the conditions are in force, or when the reason why they are not is known. */
  async confirm(): Promise<void> {
    await this.#conditions.change(await this.#conditions.read());
  }

  /** The faults in force, in the words of `--fault`, and why some are not. */
  async describe(): Promise<string[]> {
    const { bucketFaults, dnsFaults, problem } = await this.#conditions.read();
    const faults = [...bucketFaults, ...dnsFaults].map(({ text }) => text);
    return [...faults, ...(problem === null ? [] : [problem])];
  }

  async close(): Promise<void> {
    await this.#conditions.close();
  }
}
