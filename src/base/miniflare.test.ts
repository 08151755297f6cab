import { describe, expect, it } from "vitest";
import { acceptedConfig, type MiniflareModule } from "./miniflare.ts";

const config = {
  type: "worker",
  name: "script",
  compatibilityDate: "2026-08-01",
  env: {
    ZONES: { type: "durable-object", workerName: "script", exportName: "Zone" },
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
    const earlierCopy = copy((form) => "type" in form);
    expect(acceptedConfig(earlierCopy, config)).toBe(config);
  });

  it("writes the later form, without a type and with `worker` in bindings", () => {
    const { type: _, ...untyped } = config;
    const later = {
      ...untyped,
      env: {
        ZONES: { type: "durable-object", worker: "script", exportName: "Zone" },
        GREETING: { type: "text", value: "hello" },
      },
    };
    const laterCopy = copy(
      (form) => !("type" in form) && JSON.stringify(form).includes(`"worker":`),
    );
    expect(acceptedConfig(laterCopy, config)).toEqual(later);
    expect(acceptedConfig({}, config)).toEqual(later);
  });
});
