/**
 * The last byte of a stream that comes from Node: whether the stream before it is whole.
 *
 * A stream that breaks on its way through Miniflare's proxy would bring down the call with an
 * error of the transport's, and leave a rejection that nobody handles. So it always ends well,
 * and says at the end how it went.
 */
export const seal = { whole: 1, broken: 0 } as const;
