/**
 * The memory that live objects take in a runtime, measured through its inspector.
 *
 * The resident set of workerd grows for some ten thousand requests in any case, because V8 collects
 * rarely where there is memory. A leak shows in the heap after a collection.
 */

interface HeapUsage {
  readonly usedSize: number;
  readonly embedderHeapUsedSize: number;
  readonly backingStorageSize: number;
}

/** The bytes of live objects in all workers of the runtime. */
export async function liveBytes(inspector: URL): Promise<number> {
  const list = new URL("/json", inspector);
  list.protocol = "http:";
  const targets = (await (await fetch(list)).json()) as { id: string }[];
  let bytes = 0;
  for (const { id } of targets) bytes += await liveBytesAt(new URL(`/${id}`, inspector));
  return bytes;
}

async function liveBytesAt(address: URL): Promise<number> {
  const socket = new WebSocket(address);
  const usage = await new Promise<HeapUsage>((resolve, reject) => {
    socket.addEventListener("open", () => {
      // A snapshot collects garbage first; workerd does not answer `collectGarbage`.
      socket.send(JSON.stringify({ id: 1, method: "HeapProfiler.takeHeapSnapshot" }));
      socket.send(JSON.stringify({ id: 2, method: "Runtime.getHeapUsage" }));
    });
    socket.addEventListener("message", ({ data }) => {
      const { id, result } = JSON.parse(String(data)) as { id?: number; result: HeapUsage };
      if (id === 2) resolve(result);
    });
    socket.addEventListener("error", () => reject(new Error(`Cannot connect to ${address}`)));
    socket.addEventListener("close", () => reject(new Error(`${address} has closed`)));
  });
  socket.close();
  return usage.usedSize + usage.embedderHeapUsedSize + usage.backingStorageSize;
}
