/**
 * The stream of the activity, connected while the live view is shown. A stream that ends is opened
 * again after the last entry that was read. The page renders at most four times a second, however
 * many entries arrive.
 */
import { useEffect, useRef, useState } from "preact/hooks";
import type { ActivityBatch } from "../../api/activity.ts";
import { apiUrl } from "../api-client.ts";
import { ActivityMeter } from "./activity-meter.ts";
import { addBatch, clearBuffer, emptyBuffer, type EntryBuffer } from "./entry-buffer.ts";

const renderMilliseconds = 250;
/** A server that is started again is found soon, and a server that is gone is not flooded. */
const reconnectMilliseconds = 1000;

export type ConnectionState = "connecting" | "open" | "lost";

export interface Activity {
  readonly buffer: EntryBuffer;
  readonly connection: ConnectionState;
  readonly meter: ActivityMeter;
  readonly clear: () => void;
}

export function useActivity(): Activity {
  const current = useRef(emptyBuffer);
  const [meter] = useState(() => new ActivityMeter());
  const [buffer, setBuffer] = useState(emptyBuffer);
  const [connection, setConnection] = useState<ConnectionState>("connecting");
  useEffect(() => {
    let source: EventSource | null = null;
    let reconnect: ReturnType<typeof setTimeout> | undefined;
    let render: ReturnType<typeof setTimeout> | undefined;
    const connect = (): void => {
      const after = current.current.lastId;
      source = new EventSource(apiUrl("/api/activity", { after }));
      source.addEventListener("open", () => setConnection("open"));
      source.addEventListener("message", (event: MessageEvent<string>) => {
        const batch = JSON.parse(event.data) as ActivityBatch;
        current.current = addBatch(current.current, batch);
        meter.add(batch.entries, Date.now());
        render ??= setTimeout(() => {
          render = undefined;
          setBuffer(current.current);
        }, renderMilliseconds);
      });
      source.addEventListener("error", () => {
        // The browser does not connect again after every kind of failure, so the page always does.
        source?.close();
        setConnection("lost");
        reconnect = setTimeout(connect, reconnectMilliseconds);
      });
    };
    connect();
    return () => {
      source?.close();
      clearTimeout(reconnect);
      clearTimeout(render);
    };
  }, [meter]);
  const clear = (): void => {
    current.current = clearBuffer(current.current);
    setBuffer(current.current);
  };
  return { buffer, connection, meter, clear };
}
