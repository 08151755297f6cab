/** The client of a zone transfer (AXFR, RFC 5936; IXFR, RFC 1995). */
import { createHmac, randomInt } from "node:crypto";
import { UserError } from "../../base/user-error.ts";
import type { ServerAddress } from "../config/dns-table.ts";
import { IncomingZone, TransferError } from "../transfer/incoming.ts";
import { WireError } from "../wire/bytes.ts";
import { classCodes, typeCodes } from "../wire/numbers.ts";
import type { ResourceRecord } from "../wire/resource-record.ts";
import { signMessage, type Hmac, type TsigKey } from "../wire/tsig.ts";
import { encodeQuery, exchangeMessages, type Stream } from "./ask-server.ts";

const idleMillisecondsDefault = 10_000;

interface FetchOptions extends ServerAddress {
  readonly zoneName: string;
  readonly key?: TsigKey;
  readonly idleMilliseconds?: number;
  /** Asks for the changes since this serial (IXFR). */
  readonly fromSerial?: number;
  /** Default: TCP. */
  readonly transport?: Stream;
}

/** All records of a zone; the SOA is the first. */
export async function fetchZone(options: FetchOptions): Promise<readonly ResourceRecord[]> {
  return (await fetchTransfer(options)).records;
}

/** The records as `IncomingZone` returns them. The transfer fails when no data arrives for a while. */
export async function fetchTransfer({
  zoneName,
  host,
  port,
  key,
  idleMilliseconds = idleMillisecondsDefault,
  fromSerial,
  transport = "tcp",
}: FetchOptions): Promise<{
  readonly records: readonly ResourceRecord[];
  readonly octets: number;
  readonly messages: number;
}> {
  const id = randomInt(65_536);
  const query =
    fromSerial === undefined
      ? encodeQuery({ name: zoneName, type: typeCodes.AXFR }, { id })
      : encodeQuery(
          { name: zoneName, type: typeCodes.IXFR },
          { id, authorities: [soaWith(zoneName, fromSerial)] },
        );
  const signed = key === undefined ? null : { key, hmac, ...signNow(query, key) };
  const bytes = signed?.bytes ?? query;
  const incoming = new IncomingZone({ zoneName, id, signed, fromSerial });
  const idle = {
    milliseconds: idleMilliseconds,
    error: new TransferError(`No data arrived for ${idleMilliseconds / 1000} seconds`),
  };
  let [octets, messages] = [0, 0];
  try {
    for await (const message of exchangeMessages(bytes, { host, port }, transport, idle)) {
      const records = incoming.take(message, nowSeconds());
      octets += message.length;
      messages += 1;
      if (records !== null) return { records, octets, messages };
    }
    throw new TransferError("The server closed the connection before the zone was complete");
  } catch (error) {
    throw explainFailure(error, `Cannot transfer ${zoneName} from ${host}, port ${port}`);
  }
}

/** RFC 1995 section 3: only the serial of this SOA counts. */
function soaWith(zoneName: string, serial: number): ResourceRecord {
  const data = new Uint8Array(2 + 5 * 4);
  new DataView(data.buffer).setUint32(2, serial);
  return { name: zoneName, type: typeCodes.SOA, class: classCodes.IN, ttlSeconds: 0, data };
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
