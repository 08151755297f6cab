/**
 * The name that a TLS client asks for (SNI, RFC 6066 section 3), read before the handshake: so that a server
 * can choose who does the handshake, and refuse a name in words of TLS.
 */

const handshakeRecord = 22;
const clientHello = 1;
const serverNameExtension = 0;
const recordHeadBytes = 5;
/** RFC 8446 section 5.1. A client's first message fits in one record. */
const recordBytesMax = 16_384;

/** RFC 8446 section 6: a fatal alert unrecognized_name, which a client reads before the handshake. */
export const unrecognizedName = Uint8Array.of(21, 3, 1, 0, 2, 2, 112);

/**
 * @param bytes what a client has sent so far
 * @returns `undefined` while the bytes are incomplete; `null` for a client that does not speak TLS
 */
export function readClientHello(
  bytes: Buffer,
): { readonly name: string | null } | null | undefined {
  if (bytes.length === 0) return undefined;
  if (bytes[0] !== handshakeRecord) return null;
  if (bytes.length < recordHeadBytes) return undefined;
  const length = bytes.readUInt16BE(3);
  if (length > recordBytesMax) return null;
  if (bytes.length < recordHeadBytes + length) return undefined;
  try {
    return readName(bytes.subarray(recordHeadBytes, recordHeadBytes + length));
  } catch {
    // A length leads out of the record.
    return null;
  }
}

function readName(message: Buffer): { readonly name: string | null } | null {
  if (message.readUInt8(0) !== clientHello) return null;
  // Type, length, version and random; then session, cipher suites and compression methods.
  let at = 38;
  at += 1 + message.readUInt8(at);
  at += 2 + message.readUInt16BE(at);
  at += 1 + message.readUInt8(at);
  if (at === message.length) return { name: null };
  const end = at + 2 + message.readUInt16BE(at);
  for (at += 2; at < end; at += 4 + message.readUInt16BE(at + 2)) {
    if (message.readUInt16BE(at) !== serverNameExtension) continue;
    // The list has one entry: its length, the type "host name" and the length of the name.
    const length = message.readUInt16BE(at + 7);
    return { name: message.toString("latin1", at + 9, at + 9 + length).toLowerCase() };
  }
  return { name: null };
}
