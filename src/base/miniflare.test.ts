import { describe, expect, it } from "vitest";
import { acceptedConfig, addTailConsumer, type MiniflareModule } from "./miniflare.ts";

const config = {
  name: "script",
  compatibilityDate: "2026-08-01",
  env: {
    ZONES: { type: "durable-object", worker: "script", exportName: "Zone" },
    GREETING: { type: "text", value: "hello" },
  },
} as const;

/** The part of a copy that decides: the schema of a worker's configuration. */
function copy(accepts: (config: Record<string, unknown>) => boolean): Partial<MiniflareModule> {
  const schema = {
    safeParse: (value: Record<string, unknown>) => ({ success: accepts(value) }),
  } as never;
  return { MiniflareWorkerConfigSchema: schema };
}

describe("acceptedConfig()", () => {
  it("keeps the form that the copy accepts", () => {
    const laterCopy = copy((form) => !("type" in form));
    expect(acceptedConfig(laterCopy, config)).toBe(config);
    expect(acceptedConfig({}, config)).toBe(config);
  });

  it("writes the earlier form, with a type and with `workerName` in bindings", () => {
    const earlier = {
      ...config,
      type: "worker",
      env: {
        ZONES: { type: "durable-object", workerName: "script", exportName: "Zone" },
        GREETING: { type: "text", value: "hello" },
      },
    };
    const earlierCopy = copy(
      (form) => "type" in form && JSON.stringify(form).includes(`"workerName":`),
    );
    expect(acceptedConfig(earlierCopy, config)).toEqual(earlier);
  });
});

describe("addTailConsumer()", () => {
  const earlierCopy = copy((form) => !("experimental" in form));
  const laterCopy = copy(() => true);
  const other = { worker: "other" };
  /** Added twice, because Miniflare may read the same options twice. */
  const added = (miniflare: Partial<MiniflareModule>, isStreaming: boolean): unknown => {
    const worker = { config: { name: "script", tailConsumers: [other] } } as never;
    addTailConsumer(miniflare, worker, "tail", { isStreaming });
    addTailConsumer(miniflare, worker, "tail", { isStreaming });
    return (worker as { readonly config: unknown }).config;
  };
  const tail = { worker: "tail", workerName: "tail" };

  it("writes the consumer of a stream into the list that the copy has", () => {
    expect(added(laterCopy, true)).toEqual({
      name: "script",
      tailConsumers: [other],
      experimental: { streamingTailConsumers: [tail] },
    });
    expect(added(earlierCopy, true)).toEqual({
      name: "script",
      tailConsumers: [other, { ...tail, streaming: true }],
    });
  });

  it("writes other consumers into one list in each copy", () => {
    for (const miniflare of [earlierCopy, laterCopy]) {
      expect(added(miniflare, false)).toEqual({ name: "script", tailConsumers: [other, tail] });
    }
  });
});
