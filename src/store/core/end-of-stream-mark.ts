/**
 * The last byte of a marked stream, which carries a value from Node to workerd: whether the bytes
 * before it are the whole value.
 *
 * A stream that fails on its way through Miniflare's proxy would make the call fail with an error
 * of the transport, and leave an unhandled rejection. So a marked stream always ends without an
 * error, and its last byte reports the failure.
 */
export const endOfStreamMark = { whole: 1, broken: 0 } as const;
