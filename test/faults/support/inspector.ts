/** The heaps of isolates, by workerd's inspector. */
import { once } from "node:events";

interface HeapUsage {
  readonly usedSize: number;
  readonly embedderHeapUsedSize: number;
  readonly backingStorageSize: number;
}

/** A snapshot, whose text has every string of the heap, and the use of memory after it. */
async function inspectHeap(address: URL): Promise<{ snapshot: string; usage: HeapUsage }> {
  const socket = new WebSocket(address);
  const chunks: string[] = [];
  const { promise, resolve, reject } = Promise.withResolvers<HeapUsage>();
  for (const name of ["close", "error"] as const) {
    socket.addEventListener(name, () => reject(new Error(`No inspector answers at ${address}`)));
  }
  socket.addEventListener("message", ({ data }) => {
    const message = JSON.parse(String(data)) as {
      id?: number;
      method?: string;
      params?: { chunk?: string };
      result: HeapUsage;
    };
    if (message.method === "HeapProfiler.addHeapSnapshotChunk") {
      chunks.push(message.params?.chunk ?? "");
    }
    // The answers have the order of the requests, and follow the last chunk.
    if (message.id === 2) resolve(message.result);
  });
  await once(socket, "open");
  // A snapshot collects garbage first; workerd does not answer `collectGarbage`.
  socket.send(JSON.stringify({ id: 1, method: "HeapProfiler.takeHeapSnapshot" }));
  socket.send(JSON.stringify({ id: 2, method: "Runtime.getHeapUsage" }));
  try {
    return { usage: await promise, snapshot: chunks.join("") };
  } finally {
    socket.close();
  }
}

/** @param service the name of the isolate's service, such as `core:user:NAME` */
export async function heapSnapshot(inspectorPort: number, service: string): Promise<string> {
  const address = new URL(`ws://127.0.0.1:${inspectorPort}/${service}`);
  return (await inspectHeap(address)).snapshot;
}

/**
 * The bytes of live objects in all workers of the runtime. The resident set of workerd grows for some
 * ten thousand requests in any case, because V8 collects rarely where there is memory. A leak shows
 * in the heap after a collection.
 */
export async function liveBytes(inspector: URL): Promise<number> {
  const list = new URL("/json", inspector);
  list.protocol = "http:";
  const targets = (await (await fetch(list)).json()) as { id: string }[];
  let bytes = 0;
  for (const { id } of targets) {
    const { usage } = await inspectHeap(new URL(`/${id}`, inspector));
    bytes += usage.usedSize + usage.embedderHeapUsedSize + usage.backingStorageSize;
  }
  return bytes;
}
