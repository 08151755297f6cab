/** The heap of an isolate, by workerd's inspector: the text has every string of the heap. */
import { once } from "node:events";

/** @param service the name of the isolate's service, such as `core:user:NAME` */
export async function heapSnapshot(inspectorPort: number, service: string): Promise<string> {
  const socket = new WebSocket(`ws://127.0.0.1:${inspectorPort}/${service}`);
  const chunks: string[] = [];
  const done = Promise.withResolvers<void>();
  socket.addEventListener("close", () => done.reject(new Error(`No inspector of ${service}.`)));
  socket.addEventListener("message", ({ data }) => {
    const message = JSON.parse(data as string) as {
      id?: number;
      method?: string;
      params?: { chunk?: string };
    };
    if (message.method === "HeapProfiler.addHeapSnapshotChunk")
      chunks.push(message.params?.chunk ?? "");
    // The answer follows the last chunk.
    if (message.id === 2) done.resolve();
  });
  await once(socket, "open");
  socket.send(JSON.stringify({ id: 1, method: "HeapProfiler.enable" }));
  socket.send(JSON.stringify({ id: 2, method: "HeapProfiler.takeHeapSnapshot", params: {} }));
  try {
    await done.promise;
    return chunks.join("");
  } finally {
    socket.close();
  }
}
