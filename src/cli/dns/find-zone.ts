/** Zones by name or id. */
import { nearest } from "../../base/nearest.ts";
import { NotFoundError } from "../../base/user-error.ts";
import type { ApiClient, ApiZone } from "../../dns/client/api-client.ts";
import { acceptZoneName } from "../../dns/rules/zone.ts";
import type { Argument } from "../command.ts";

export const zoneArgument: Argument = { name: "ZONE", summary: "The name or the id of a zone" };

const idPattern = /^[0-9a-f]{32}$/;

/** @throws NotFoundError with a suggestion */
export async function findZone(api: ApiClient, word: string): Promise<ApiZone> {
  if (idPattern.test(word)) return api.zone(word);
  const found = await findZoneNamed(api, word);
  if (found !== null) return found;
  const names = (await api.zones()).map(({ name }) => name);
  throw new NotFoundError(`There is no zone "${word}". ${suggestion(word, names)}`);
}

/** Returns `null` when no zone has the name, or when the name is not valid. */
export async function findZoneNamed(api: ApiClient, word: string): Promise<ApiZone | null> {
  const name = acceptZoneName(word, () => {});
  return name === undefined ? null : api.zoneNamed(name);
}

function suggestion(word: string, names: readonly string[]): string {
  const parent = names.find((name) => word.toLowerCase().endsWith(`.${name}`));
  const guess = parent ?? nearest(word, names);
  if (guess !== null) return `Did you mean ${guess}?`;
  return names.length === 0
    ? 'The server has no zones: make one with "ledge dns zones --create NAME".'
    : 'List the zones with "ledge dns zones", or make it with "ledge dns zones --create NAME".';
}
