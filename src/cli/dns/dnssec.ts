/** `ledge dns dnssec`: signs a zone, and rolls its keys. */
import {
  ApiError,
  type ApiClient,
  type ApiDnssec,
  type ApiRoll,
  type ApiZone,
} from "../../dns/client/api-client.ts";
import { UsageError, type Invocation, type LeafCommand } from "../command.ts";
import { print } from "../output.ts";
import { findZone, serverOptions, withDns, zoneArgument } from "./session.ts";

const rollOptions = ["keys", "pace", "ds-seen"] as const;

export const dnssec: LeafCommand = {
  name: "dnssec",
  summary: "Signs a zone, shows the DS record for its parent, or rolls its keys",
  details:
    "A parent zone on the same server gets the DS record by itself. Without an action, the state is\n" +
    "shown. The keys stay when DNSSEC is turned off, so that the DS record is the same later.\n\n" +
    "roll replaces the keys in stages, as long as resolvers may have the old keys, signatures and DS\n" +
    "records in their caches: 27 hours, and longer if the parent, which is elsewhere, gets the new DS\n" +
    "record later. --ds-seen says that it has the record.",
  arguments: [zoneArgument, ["[ACTION]", "on, off, status or roll"]],
  options: {
    "--keys KEYS": "What to roll: both, ksk or zsk (default: both)",
    "--pace TIME":
      "The length of each stage of the roll, such as 10s, for resolvers that cache no longer",
    "--ds-seen": "The parent has the DS record of the new key: the roll goes on",
    ...serverOptions,
  },
  choices: { ACTION: ["on", "off", "status", "roll"], keys: ["both", "ksk", "zsk"] },
  examples: [
    "ledge dns dnssec example.com on",
    "ledge dns dnssec example.com roll",
    "ledge dns dnssec example.com roll --ds-seen",
  ],

  async run(invocation, word, action = "status") {
    const unused = rollOptions.find((name) => isGiven(invocation, name) && action !== "roll");
    if (unused !== undefined) throw new UsageError(`--${unused} is for the action roll.`);
    const paceSeconds = invocation.seconds("pace", "1d");
    await withDns(invocation, async ({ api }) => {
      const zone = await findZone(api, word);
      if (action === "roll") await roll(invocation, api, zone, paceSeconds);
      const state =
        action === "on" || action === "off"
          ? await api.changeDnssec(zone.id, action === "on" ? "active" : "disabled")
          : await api.dnssec(zone.id);
      const found = state.status === "disabled" ? null : await findRoll(api, zone);
      const lines = [describeState(zone.name, state), ...describeRoll(zone.name, found)];
      print(invocation, { ...state, roll: found }, lines.join("\n"));
    });
  },
};

function isGiven(invocation: Invocation, name: (typeof rollOptions)[number]): boolean {
  return name === "ds-seen" ? invocation.flag(name) : invocation.text(name) !== undefined;
}

async function roll(
  invocation: Invocation,
  api: ApiClient,
  { name }: ApiZone,
  paceSeconds: number | undefined,
): Promise<void> {
  if (!invocation.flag("ds-seen")) {
    await api.startRoll(name, { keys: invocation.text("keys"), pace_seconds: paceSeconds });
  } else if (isGiven(invocation, "keys") || isGiven(invocation, "pace")) {
    throw new UsageError("--ds-seen is for a roll in progress: leave out --keys and --pace.");
  } else await api.confirmDs(name);
}

/** A server of another kind, or a token for some zones, has no rolls to show. */
async function findRoll(api: ApiClient, { name }: ApiZone): Promise<ApiRoll | null> {
  try {
    return await api.roll(name);
  } catch (error) {
    if (error instanceof ApiError) return null;
    throw error;
  }
}

function describeState(zoneName: string, { status, ds }: ApiDnssec): string {
  if (status === "disabled") return `DNSSEC of ${zoneName} is off.`;
  if (status === "active") return `DNSSEC of ${zoneName} is on. The DS record:\n${ds}`;
  return (
    `DNSSEC of ${zoneName} is on, and the parent zone has no DS record: give the parent zone NS ` +
    `records for ${zoneName}, and it gets the DS record by itself:\n${ds}`
  );
}

function describeRoll(zoneName: string, found: ApiRoll | null): string[] {
  if (found === null) return [];
  const { old, new: next, stage, until, awaits_ds: awaitsDs } = found;
  const names = [
    ...(old.ksk === next.ksk ? [] : [`KSK ${old.ksk} to ${next.ksk}`]),
    ...(old.zsk === next.zsk ? [] : [`ZSK ${old.zsk} to ${next.zsk}`]),
  ];
  const lines = [`The keys roll: ${names.join(", ")}.`];
  if (stage === "publish") {
    lines.push(`Until ${until} resolvers learn the new keys; then the new keys sign.`);
    if (awaitsDs) lines.push("After that the parent gets a new DS record.");
  } else if (awaitsDs) {
    lines.push(
      "The new keys sign. Waits for the parent: give it the DS record above in place of the old one, then run",
      `ledge dns dnssec ${zoneName} roll --ds-seen`,
    );
  } else {
    lines.push(
      `The new keys sign. Until ${until} resolvers forget the old signatures; then the old keys go.`,
    );
  }
  return lines;
}
