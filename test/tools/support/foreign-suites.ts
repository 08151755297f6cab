/**
 * The test suites of `foreign.ts`, of public repositories: nothing of them is in this repository. With them
 * is the list of the tests that end in another way with Ledge than with the pool alone.
 */
export interface ForeignRepository {
  /** `owner/name` */
  readonly name: string;
  readonly commit: string;
  /** The parts of the repository that its suites need; without this, their folders. */
  readonly paths?: readonly string[];
  /** What the suites import, beside the tools. A monorepo's own packages are those of the registry. */
  readonly packages: Readonly<Record<string, string>>;
  readonly suites: readonly ForeignSuite[];
}

export interface ForeignSuite {
  /** The folder from which vitest runs. */
  readonly folder: string;
  /** Without this, the last part of the folder. */
  readonly name?: string;
  /** Without this, the configuration that vitest finds in the folder. */
  readonly config?: string;
  /** Files that a build of the project would write, relative to the folder. */
  readonly built?: readonly string[];
}

const exampleFolder = "fixtures/vitest-plugin-examples";
const example = (name: string, config?: string): ForeignSuite => ({
  folder: `${exampleFolder}/${name}`,
  ...(config !== undefined && { config }),
});

export const foreignRepositories: readonly ForeignRepository[] = [
  {
    name: "cloudflare/workers-sdk",
    commit: "f830836028",
    paths: ["vitest.shared.ts", exampleFolder],
    packages: {
      "@better-auth/stripe": "1.4.6",
      "@cloudflare/containers": "^0.2.2",
      "@microlabs/otel-cf-workers": "1.0.0-rc.45",
      "better-auth": "1.4.6",
      "cjs-wasm-module-dep": `file:${exampleFolder}/module-resolution/vendor/cjs-wasm-module-dep`,
      "discord-api-types": "0.37.98",
      "esm-dep": `file:${exampleFolder}/module-resolution/vendor/esm-dep`,
      "ext-dep": `file:${exampleFolder}/module-resolution/vendor/ext-dep`,
      jose: "^5.9.3",
      "mime-types": "^2.1.35",
      msw: "2.14.6",
      nunjucks: "^3.2.4",
      stripe: "^20.0.0",
      "toucan-js": "4.0.0",
      "wasm-module-dep": `file:${exampleFolder}/module-resolution/vendor/wasm-module-dep`,
    },
    suites: [
      example("ai-vectorize"),
      example("basics-integration-auxiliary"),
      example("basics-unit-integration-self"),
      example("container-app"),
      example("context-exports"),
      example("d1"),
      example("durable-objects"),
      example("durable-objects-exports"),
      example("dynamic-import"),
      example("hyperdrive"),
      example("images"),
      example("kv-r2-caches"),
      example("misc"),
      example("misc", "vitest.nodejs.config.ts"),
      example("misc", "vitest.nodejs-optout.config.ts"),
      example("module-resolution"),
      example("multiple-workers"),
      example("pages-functions-unit-integration-self"),
      example("pages-with-config"),
      example("pipelines"),
      example("queues"),
      example("reset"),
      example("rpc"),
      example("web-assembly"),
      example("workers-assets"),
      example("workers-assets-no-dir"),
      example("workflows"),
    ],
  },
  {
    // The last commit whose mocks need msw only: the registries of npm lack what came after.
    name: "cloudflare/workers-sdk",
    commit: "fdb2072862",
    paths: ["vitest.shared.ts", "fixtures/vitest-pool-workers-examples"],
    packages: { msw: "2.14.6" },
    suites: [{ folder: "fixtures/vitest-pool-workers-examples/request-mocking" }],
  },
  {
    name: "cloudflare/partykit",
    commit: "c9ab55f",
    paths: ["packages", "tsconfig.base.json"],
    packages: {
      "cron-parser": "^5.5.0",
      lib0: "^0.2.117",
      "lodash.debounce": "^4.0.8",
      luxon: "^3.7.0",
      nanoid: "^5.1.9",
      partyserver: "0.5.8",
      partysocket: "1.3.0",
      "y-protocols": "^1.0.7",
      yjs: "^13.6.30",
    },
    suites: [
      { folder: "packages/partyserver/src/tests", name: "partyserver" },
      {
        folder: "packages/partyserver/src/tests",
        name: "partyserver",
        config: "vitest.compat.config.ts",
      },
      { folder: "packages/partysub/src/server/tests", name: "partysub" },
      { folder: "packages/partywhen/tests", name: "partywhen" },
      { folder: "packages/y-partyserver/src/tests", name: "y-partyserver" },
    ],
  },
  {
    name: "cloudflare/templates",
    commit: "7a0bc8f9",
    packages: {
      "durable-utils": "0.3.5",
      fflate: "0.8.2",
      hono: "4.11.1",
      "workers-qb": "^1.14.0",
    },
    suites: [
      { folder: "agent-commerce-analytics-template", built: ["dist/client/index.html"] },
      { folder: "agent-visibility-template", built: ["dist/client/index.html"] },
      { folder: "commerce-llms-txt-template", built: ["dist/client/index.html"] },
      { folder: "d1-starter-sessions-api-template" },
      { folder: "internal-sites-template" },
      { folder: "microfrontend-template" },
      { folder: "workers-builds-notifications-template" },
      { folder: "workers-for-platforms-template" },
      { folder: "workflows-starter-template", built: ["dist/index.html"] },
    ],
  },
  {
    name: "cloudflare/agents",
    commit: "a0e134b",
    paths: ["packages", "scripts/vitest"],
    packages: {
      "@cloudflare/codemode": "0.5.1",
      "@cloudflare/shell": "0.4.3",
      "@modelcontextprotocol/client": "2.0.0",
      "@modelcontextprotocol/sdk": "1.30.0",
      "@modelcontextprotocol/server": "2.0.0",
      "@tanstack/ai": "0.38.0",
      acorn: "^8.17.0",
      agents: "0.21.0",
      ai: "^7.0.0",
      hono: "^4.11.1",
      "isomorphic-git": "^1.38.5",
      nanoid: "^5.1.9",
      partysocket: "1.3.0",
      react: "^19.2.0",
      zod: "^4.4.3",
    },
    suites: [
      { folder: "packages/codemode" },
      { folder: "packages/codemode", config: "vitest.runtime.config.ts" },
      { folder: "packages/shell" },
      { folder: "packages/voice/src/tests", name: "voice" },
      { folder: "packages/hono-agents/src/tests", name: "hono-agents" },
    ],
  },
];

export interface KnownDifference {
  readonly suite: string;
  /** A text that the full name of each such test contains. */
  readonly test: string;
  readonly reason: string;
}

export const knownDifferences: readonly KnownDifference[] = [
  {
    suite: "d1",
    test: "should list posts",
    reason: "the test counts the rows of earlier tests, and Ledge has undone their writes",
  },
];
