/** The client of a zone transfer (AXFR, RFC 5936). */
import { createHmac, randomInt } from "node:crypto";
import { UserError } from "../../base/user-error.ts";
import type { ServerAddress } from "../config/dns-table.ts";
import { IncomingZone, TransferError } from "../transfer/incoming.ts";
import { WireError } from "../wire/bytes.ts";
import { typeCodes } from "../wire/numbers.ts";
import type { ResourceRecord } from "../wire/resource-record.ts";
import { signMessage, type Hmac, type TsigKey } from "../wire/tsig.ts";
import { encodeQuery, exchangeTcp } from "./ask-server.ts";

const idleMillisecondsDefault = 10_000;

/** All records of a zone; the SOA is the first. The transfer fails when no data arrives for a while. */
export async function fetchZone({
  zoneName,
  host,
  port,
  key,
  idleMilliseconds = idleMillisecondsDefault,
}: ServerAddress & {
  readonly zoneName: string;
  readonly key?: TsigKey;
  readonly idleMilliseconds?: number;
}): Promise<readonly ResourceRecord[]> {
  const id = randomInt(65_536);
  const query = encodeQuery({ name: zoneName, type: typeCodes.AXFR }, { id });
  const signed = key === undefined ? null : { key, hmac, ...signNow(query, key) };
  const bytes = signed?.bytes ?? query;
  const incoming = new IncomingZone({ zoneName, id, signed });
  const idleError = new TransferError(`No data arrived for ${idleMilliseconds / 1000} seconds`);
  try {
    for await (const message of exchangeTcp(bytes, { host, port }, idleMilliseconds, idleError)) {
      const records = incoming.take(message, nowSeconds());
      if (records !== null) return records;
    }
    throw new TransferError("The server closed the connection before the zone was complete");
  } catch (error) {
    throw explainFailure(error, `Cannot transfer ${zoneName} from ${host}, port ${port}`);
  }
}

function explainFailure(error: unknown, what: string): unknown {
  if (error instanceof TransferError || error instanceof WireError) {
    const hint = error.message.includes("REFUSED")
      ? " Allow this address, or the key, to transfer the zone there (allow-transfer)."
      : "";
    const reason = error.message.replace(/^./, (first) => first.toLowerCase());
    return new UserError(`${what}: ${reason}.${hint}`, { cause: error });
  }
  const { code } = error as NodeJS.ErrnoException;
  if (code === undefined) return error;
  return new UserError(`${what}: ${code}. Is a name server running there?`, { cause: error });
}

export const hmac: Hmac = (algorithm, secret, data) =>
  new Uint8Array(createHmac(algorithm.replace("hmac-", ""), secret).update(data).digest());

export function nowSeconds(): number {
  return Math.floor(Date.now() / 1000);
}

/** @param priorMac the MAC of the query, for a response */
export function signNow(
  bytes: Uint8Array,
  key: TsigKey,
  priorMac?: Uint8Array,
): { bytes: Uint8Array; mac: Uint8Array } {
  return signMessage(bytes, { key, hmac, nowSeconds: nowSeconds(), priorMac });
}
