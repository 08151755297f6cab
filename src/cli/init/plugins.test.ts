import { describe, expect, it } from "vitest";
import { editViteConfig, editVitestConfig, namedConfigurations } from "./plugins.ts";
import type { Note } from "./edits.ts";

/** The text and the notes of an edit. */
function noted(edit: (text: string, note: Note) => string, text: string) {
  const notes: string[] = [];
  return { text: edit(text, (note) => notes.push(note)), notes };
}

describe("editVitestConfig()", () => {
  it("replaces the plugin of the pool, and keeps its options and other imports", () => {
    const text = `import { cloudflareTest, readD1Migrations } from '@cloudflare/vitest-plugin'
export default { plugins: [cloudflareTest(async () => ({ wrangler: { configPath: './w.toml' } }))] }
`;
    const edited = noted(editVitestConfig, text);
    expect(edited).toEqual({
      text: `import { readD1Migrations } from '@cloudflare/vitest-plugin'
import { ledge } from 'ledge/vitest'
export default { plugins: [ledge(async () => ({ wrangler: { configPath: './w.toml' } }))] }
`,
      notes: [],
    });
    expect(noted(editVitestConfig, edited.text)).toEqual(edited);
    expect(namedConfigurations(edited.text)).toEqual(["./w.toml"]);
  });

  it("replaces the plugin in every project, and finds its import among several", () => {
    const text = `import { readD1Migrations } from "@cloudflare/vitest-plugin";
import { cloudflareTest } from "@cloudflare/vitest-plugin";
export default { projects: [{ plugins: [cloudflareTest()] }, { plugins: [cloudflareTest({})] }] };
`;
    expect(noted(editVitestConfig, text)).toEqual({
      text: `import { readD1Migrations } from "@cloudflare/vitest-plugin";
import { ledge } from "ledge/vitest";
export default { projects: [{ plugins: [ledge()] }, { plugins: [ledge({})] }] };
`,
      notes: [],
    });
  });

  it("leaves a file that has only types of the pool", () => {
    const text = `/// <reference types="@cloudflare/vitest-plugin/types" />
import type { WorkersPoolOptions } from "@cloudflare/vitest-plugin";
`;
    expect(noted(editVitestConfig, text)).toEqual({ text, notes: [] });
  });

  it("leaves a configuration without the pool", () => {
    const text = `import { defineConfig } from "vitest/config";\nexport default defineConfig({});\n`;
    expect(noted(editVitestConfig, text)).toEqual({ text, notes: [] });
  });

  it.each([
    [
      `import { defineWorkersConfig } from "@cloudflare/vitest-pool-workers/config";`,
      /pool of vitest 3: run .*v3-to-v4/,
    ],
    [`import * as pool from "@cloudflare/vitest-plugin";`, /not a list of names/],
    [`import { cloudflareTest as pool } from "@cloudflare/vitest-plugin";`, /by this name/],
    [`import { cloudflarePool } from "@cloudflare/vitest-plugin";`, /the pool with cloudflarePool/],
    [`const pool = await import("@cloudflare/vitest-plugin");`, /not a list of names/],
    [
      `import { defineWorkspace } from "vitest/config";
import { defineWorkersProject } from "@cloudflare/vitest-pool-workers/config";`,
      /defineWorkersProject belongs to the pool of vitest 3/,
    ],
  ])("says what to do by hand for %s", (text, note) => {
    const edited = noted(editVitestConfig, text);
    expect(edited.text).toBe(text);
    expect(edited.notes).toEqual([expect.stringMatching(note)]);
  });
});

describe("editViteConfig()", () => {
  it("replaces the plugin of the platform, and keeps its options", () => {
    const text = `import { reactRouter } from "@react-router/dev/vite";
import { cloudflare } from "@cloudflare/vite-plugin";

export default defineConfig({
  plugins: [cloudflare({ viteEnvironment: { name: "ssr" } }), reactRouter(), own.cloudflare()],
});
`;
    const edited = noted(editViteConfig, text);
    expect(edited).toEqual({
      text: `import { reactRouter } from "@react-router/dev/vite";
import { ledge } from "ledge/vite";

export default defineConfig({
  plugins: [ledge({ viteEnvironment: { name: "ssr" } }), reactRouter(), own.cloudflare()],
});
`,
      notes: [],
    });
    expect(noted(editViteConfig, edited.text)).toEqual(edited);
  });

  it("gives the plugin another name beside the plugin of vitest", () => {
    const text = `import { cloudflare } from "@cloudflare/vite-plugin";
import { ledge } from "ledge/vitest";
export default { plugins: [process.env.VITEST ? ledge() : cloudflare()] };
`;
    expect(noted(editViteConfig, text).text).toBe(`import { ledge as ledgeVite } from "ledge/vite";
import { ledge } from "ledge/vitest";
export default { plugins: [process.env.VITEST ? ledge() : ledgeVite()] };
`);
  });

  it("leaves a plugin that is not called, and says what to do", () => {
    const text = `import { cloudflare } from "@cloudflare/vite-plugin";\nexport const x = [cloudflare];\n`;
    expect(noted(editViteConfig, text)).toEqual({
      text,
      notes: [
        'it does not call cloudflare() by this name: use the plugin ledge() from "ledge/vite" by hand (docs/vite.md).',
      ],
    });
  });
});
