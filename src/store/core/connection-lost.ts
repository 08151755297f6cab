/**
 * A fault has lost the answer of a call. A server between the store and a client ends the client's
 * connection, as if the connection had been lost there.
 */
export class ConnectionLostError extends Error {
  override readonly name = "ConnectionLostError";

  constructor() {
    super("Network connection lost.");
  }
}
