/** What a decoder throws when bytes are not what they claim to be; decoders throw nothing else. */
export class WireError extends Error {
  override name = "WireError";
}
