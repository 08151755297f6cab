/** The client of a zone transfer (AXFR, RFC 5936). */
import { randomInt } from "node:crypto";
import { connect } from "node:net";
import { blankMessage, encodeMessage, type Message } from "../wire/message.ts";
import type { ResourceRecord } from "../wire/resource-record.ts";
import { classCodes, typeCodes } from "../wire/numbers.ts";
import type { TsigKey } from "../wire/tsig-mac.ts";
import { WireError } from "../wire/bytes.ts";
import { IncomingZone, TransferError } from "../transfer/incoming.ts";
import { UserError } from "../../base/user-error.ts";
import { frame, Frames } from "../wire/tcp-frames.ts";
import { hmac, nowSeconds, signNow } from "../server/message-signing.ts";

export interface FetchZoneOptions {
  readonly zoneName: string;
  readonly host: string;
  readonly port: number;
  readonly key?: TsigKey;
  /** The transfer fails when no data arrives for this long. */
  readonly idleMilliseconds?: number;
}

const idleMillisecondsDefault = 10_000;
const queryBytesMax = 512;

/** All records of a zone; the SOA is the first. */
export async function fetchZone(options: FetchZoneOptions): Promise<readonly ResourceRecord[]> {
  const { zoneName, host, port, idleMilliseconds = idleMillisecondsDefault } = options;
  const server = `${host}, port ${port}`;
  const id = randomInt(65_536);
  const { bytes, mac } = encodeTransferQuery(id, options);
  const signed = options.key === undefined || mac === null ? null : { key: options.key, mac, hmac };
  const incoming = new IncomingZone({ zoneName, id, signed });
  const frames = new Frames();
  const socket = connect({ host, port });
  socket.setTimeout(idleMilliseconds, () => {
    socket.destroy(new TransferError(`No data arrived for ${idleMilliseconds / 1000} seconds`));
  });
  try {
    socket.write(frame(bytes));
    for await (const piece of socket) {
      for (const message of frames.push(piece as Uint8Array)) {
        const records = incoming.take(message, nowSeconds());
        if (records !== null) return records;
      }
    }
    throw new TransferError("The server closed the connection before the zone was complete");
  } catch (error) {
    throw explainFailure(error, `Cannot transfer ${zoneName} from ${server}`);
  } finally {
    socket.destroy();
  }
}

function encodeTransferQuery(
  id: number,
  { zoneName, key }: FetchZoneOptions,
): { bytes: Uint8Array; mac: Uint8Array | null } {
  const query: Message = {
    ...blankMessage,
    id,
    questions: [{ name: zoneName, type: typeCodes.AXFR, class: classCodes.IN }],
  };
  const bytes = encodeMessage(query, { bytesMax: queryBytesMax });
  if (key === undefined) return { bytes, mac: null };
  return signNow(bytes, key);
}

function explainFailure(error: unknown, what: string): unknown {
  if (error instanceof TransferError || error instanceof WireError) {
    const hint = error.message.includes("REFUSED")
      ? " Allow this address, or the key, to transfer the zone there (allow-transfer)."
      : "";
    return new UserError(`${what}: ${lowerFirst(error.message)}.${hint}`, { cause: error });
  }
  const { code } = error as NodeJS.ErrnoException;
  if (code === undefined) return error;
  return new UserError(`${what}: ${code}. Is a name server running there?`, { cause: error });
}

function lowerFirst(text: string): string {
  return text.slice(0, 1).toLowerCase() + text.slice(1);
}
