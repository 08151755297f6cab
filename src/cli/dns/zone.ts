/** Zones by name or id, and names in them. */
import { acceptZoneName } from "../../dns/rules/zone.ts";
import { nearest } from "../../base/nearest.ts";
import { NotFoundError } from "../command.ts";
import type { ApiClient, ApiZone } from "../../dns/client/api-client.ts";

const idPattern = /^[0-9a-f]{32}$/;

/** @throws NotFoundError with what may have been meant */
export async function findZone(api: ApiClient, word: string): Promise<ApiZone> {
  if (idPattern.test(word)) return api.zone(word);
  const found = await findZoneNamed(api, word);
  if (found !== null) return found;
  const names = (await api.zones()).map(({ name }) => name);
  throw new NotFoundError(`There is no zone "${word}". ${suggestion(word, names)}`);
}

/** `null` when there is none, or can be none. */
export async function findZoneNamed(api: ApiClient, word: string): Promise<ApiZone | null> {
  const name = acceptZoneName(word, () => {});
  return name === undefined ? null : api.zoneNamed(name);
}

function suggestion(word: string, names: readonly string[]): string {
  const around = names.find((name) => word.toLowerCase().endsWith(`.${name}`));
  const guess = around ?? nearest(word, names);
  if (guess !== null) return `Did you mean ${guess}?`;
  return names.length === 0
    ? "There are no zones: make one with ledge dns zones --create NAME."
    : 'See "ledge dns zones", or make it with ledge dns zones --create NAME.';
}
