/**
 * Serves the files of one runtime to the test runner inside the runtime (`testing/state-control.ts`),
 * at a Unix socket. Each answer says whether the runtime has to abort its objects.
 *
 *     POST /open?layer=1            StateFiles.open
 *     POST /close?layer=1&next=2    StateFiles.close
 *     POST /finish                  StateFiles.finish
 */
import { createServer, type Server } from "node:http";
import { removeSocket, socketPath } from "../state/sockets.ts";
import type { StateFiles } from "./state-files.ts";

export class StateServer {
  readonly path: string;
  readonly #server: Server;

  /** @param folder the folder of the runtime's state, which exists */
  constructor(folder: string, files: StateFiles) {
    this.path = socketPath(folder, "state");
    // The runtime keeps its connection for the next test, which may come much later.
    this.#server = createServer({ keepAliveTimeout: 0 }, (request, response) => {
      try {
        response.end(String(answer(files, new URL(request.url ?? "", "http://state"))));
      } catch (error) {
        response.writeHead(500).end((error as Error).message);
      }
    });
  }

  async listen(): Promise<void> {
    removeSocket(this.path);
    await new Promise<void>((resolve, reject) => {
      this.#server.once("error", reject);
      this.#server.listen(this.path, resolve);
    });
    // The process may end before its runtime.
    this.#server.unref();
  }

  close(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }
}

function answer(files: StateFiles, { pathname, searchParams }: URL): boolean {
  const layer = Number(searchParams.get("layer"));
  const next = searchParams.get("next");
  switch (pathname) {
    case "/open":
      return files.open(layer);
    case "/close":
      return files.close(layer, next === null ? undefined : Number(next));
    case "/finish":
      return files.finish();
    default:
      throw new Error(`Unknown path ${pathname}`);
  }
}
