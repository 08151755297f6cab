import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { PluginConfig } from "@cloudflare/vite-plugin";
import type { ConfigEnv, UserConfig } from "vite";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { Table } from "../base/schema.ts";
import { WorkerConfigs } from "./worker-configs.ts";

const photos = { binding: "PHOTOS", bucket_name: "photos" };
const videos = { binding: "VIDEOS", bucket_name: "videos" };
const source = { name: "x", store_buckets: [photos], r2_buckets: [photos, videos] };
const serve: ConfigEnv = { command: "serve", mode: "development" };
const build: ConfigEnv = { command: "build", mode: "production" };
const preview: ConfigEnv = { ...serve, isPreview: true };

let root: string;
beforeEach(() => void (root = mkdtempSync(join(tmpdir(), "ledge-"))));
afterEach(() => rmSync(root, { recursive: true, force: true }));

function write(path: string, content: object): string {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), JSON.stringify(content));
  return join(root, path);
}

interface Read {
  /** The file that the plugin reads. */
  readonly file: Table;
  /** The configuration after the option `config`. */
  readonly config: Table;
  readonly result: unknown;
}

/** Reads files as the hook of the plugin does. */
function readWorker({
  configPath = "",
  config: customize,
}: {
  configPath?: string;
  config?: unknown;
}): Read {
  const file = JSON.parse(readFileSync(configPath, "utf8")) as Table;
  const config = { ...file, configPath };
  const result = (customize as (config: Table) => unknown)(config);
  return { file, config, result };
}

async function resolveWith(
  options: PluginConfig,
  environment: ConfigEnv,
  { adopt, variables = {} }: { adopt?: boolean; variables?: Record<string, string> } = {},
) {
  const configs = new WorkerConfigs(options, { adopt, loadEnv: () => variables });
  const workers = await configs.resolve({ root }, environment, () =>
    [configs.options, ...(configs.options.auxiliaryWorkers ?? [])].map(readWorker),
  );
  return { configs, workers };
}

const bindingsOf = ({ config }: Read): unknown[] =>
  ((config["unsafe"] as Table | undefined)?.["bindings"] ?? []) as unknown[];

describe("WorkerConfigs", () => {
  it("gives the plugin a copy without the keys of Ledge, and names the original", async () => {
    const path = write("wrangler.json", { ...source, env: { staging: { store_buckets: [] } } });
    const { workers } = await resolveWith({}, build);
    expect(workers[0]?.file).toEqual({
      name: "x",
      r2_buckets: [photos, videos],
      env: { staging: {} },
    });
    expect(workers[0]?.config).toMatchObject({ configPath: path, userConfigPath: path });
    expect(readdirSync(root)).toEqual(["wrangler.json"]);
  });

  it("makes bindings of buckets in dev, and leaves a build as it is", async () => {
    write("wrangler.jsonc", source);
    const {
      workers: [dev],
    } = await resolveWith({}, serve);
    expect(dev?.config["r2_buckets"]).toEqual([videos]);
    expect(bindingsOf(dev as Read)).toMatchObject([{ name: "PHOTOS", type: "store_bucket" }]);
    const {
      workers: [built],
    } = await resolveWith({}, build);
    expect(built?.config["r2_buckets"]).toEqual([photos, videos]);
    expect(bindingsOf(built as Read)).toEqual([]);
  });

  it("calls the given option config first, and returns what it returns", async () => {
    write("wrangler.json", source);
    const config = vi.fn((given: object) => ({ vars: { COUNT: Object.keys(given).length } }));
    const { workers } = await resolveWith({ config }, serve);
    expect(config.mock.calls[0]?.[0]).toMatchObject({ name: "x" });
    expect(workers[0]?.result).toEqual({ vars: { COUNT: 4 } });
    const { workers: others } = await resolveWith({ config: { vars: { A: "1" } } }, serve);
    expect(others[0]?.result).toEqual({ vars: { A: "1" } });
  });

  it("reads the environment of CLOUDFLARE_ENV, and a file without environments in each", async () => {
    write("wrangler.json", { ...source, env: { staging: { r2_buckets: [videos] } } });
    write("other/wrangler.json", { name: "other", r2_buckets: [photos] });
    const { configs } = await resolveWith(
      { auxiliaryWorkers: [{ configPath: "other/wrangler.json" }] },
      serve,
      { adopt: true, variables: { CLOUDFLARE_ENV: "staging" } },
    );
    const buckets = configs.projects.map((project) =>
      project.buckets.map(({ binding }) => binding),
    );
    expect(buckets).toEqual([["VIDEOS"], ["PHOTOS"]]);
    await expect(
      resolveWith({}, serve, { variables: { CLOUDFLARE_ENV: "stagin" } }),
    ).rejects.toThrow('Did you mean "staging"?');
  });

  it("leaves the options alone without a file, and refuses experimental.newConfig", async () => {
    const config = { name: "x" };
    const configs = new WorkerConfigs({ config }, { adopt: true, loadEnv: () => ({}) });
    await configs.resolve({ root }, serve, () => {});
    expect(configs.options).toEqual({ config });
    expect(configs.projects).toEqual([]);
    const options = { experimental: { newConfig: true } };
    expect(() => new WorkerConfigs(options, { adopt: true, loadEnv: () => ({}) })).toThrow(
      "ledge/vite reads wrangler.jsonc",
    );
  });

  it("previews copies of the output, with the environment of the build", async () => {
    const configPath = write("wrangler.json", {
      ...source,
      env: { staging: { store_buckets: [photos], r2_buckets: [photos, videos] } },
    });
    const built = { configPath, targetEnvironment: "staging", r2_buckets: [photos, videos] };
    const output = write("dist/x/wrangler.json", built);
    write(".wrangler/deploy/config.json", {
      configPath: "../../dist/x/wrangler.json",
      auxiliaryWorkers: [{ configPath: "../../dist/x/wrangler.json" }],
      prerenderWorkerConfigPath: "../../dist/x/wrangler.json",
    });
    const configs = new WorkerConfigs({}, { adopt: false, loadEnv: () => ({}) });
    let shadow = "";
    await configs.resolve({ root }, preview, (config: UserConfig) => {
      shadow = config.root as string;
      const path = join(shadow, ".wrangler/deploy/config.json");
      const deployed = JSON.parse(readFileSync(path, "utf8")) as {
        configPath: string;
        auxiliaryWorkers: { configPath: string }[];
        prerenderWorkerConfigPath: string;
      };
      const paths = [
        deployed.configPath,
        ...deployed.auxiliaryWorkers.map((worker) => worker.configPath),
        deployed.prerenderWorkerConfigPath,
      ];
      expect(new Set(paths).size).toBe(3);
      for (const each of paths) {
        expect(dirname(each)).toBe(dirname(output));
        const table = JSON.parse(readFileSync(each, "utf8")) as Table;
        expect(table["r2_buckets"]).toEqual([videos]);
        expect(table["unsafe"]).toMatchObject({ bindings: [{ name: "PHOTOS" }] });
      }
    });
    expect(configs.projects[0]?.environment).toBe("staging");
    expect(JSON.parse(readFileSync(output, "utf8"))).toEqual(built);
    expect(readdirSync(dirname(output))).toEqual(["wrangler.json"]);
    expect(existsSync(shadow)).toBe(false);
  });

  it("lets the plugin say that there is no build to preview", async () => {
    const configs = new WorkerConfigs({}, { adopt: false, loadEnv: () => ({}) });
    expect(await configs.resolve({ root }, preview, (config) => config.root)).toBe(root);
  });
});
