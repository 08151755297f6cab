/**
 * A connection to a server that may answer and close before it has read the whole request, as workerd does.
 *
 * What this side writes after the close fails, while the response waits in a buffer of the system. Node destroys a
 * socket whose write fails, and so drops a response that has come. This socket discards what it cannot write and
 * reads on. A server that has closed without a response is seen by its reader, as the end of the connection.
 */
import { Socket } from "node:net";

type Done = (error?: Error | null) => void;

export class AnsweredSocket extends Socket {
  override _write(piece: unknown, encoding: BufferEncoding, done: Done): void {
    // oxlint-disable-next-line no-underscore-dangle -- the name of Node's interface
    super._write(piece, encoding, whenClosed(done));
  }

  override _writev(pieces: { chunk: unknown; encoding: BufferEncoding }[], done: Done): void {
    // oxlint-disable-next-line no-underscore-dangle -- as above
    super._writev?.(pieces, whenClosed(done));
  }
}

function whenClosed(done: Done): Done {
  return (error) => {
    const { code = "" } = (error ?? {}) as NodeJS.ErrnoException;
    done(code === "EPIPE" || code === "ECONNRESET" ? null : error);
  };
}
