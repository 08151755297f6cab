import { describe, expect, it } from "vitest";
import { acceptedConfig, type MiniflareModule } from "./miniflare.ts";

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
