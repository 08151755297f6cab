/** The files that `ledge init` writes into a folder without a configuration file. */
import { testedVersions } from "../../base/tested-versions.ts";
import type { PackageManager } from "./packages.ts";

export const templateScripts: Readonly<Record<string, string>> = {
  dev: "ledge dev",
  deploy: "wrangler deploy",
  test: "vitest run",
  types: "ledge types",
  check: "ledge types && tsc",
};

/** The tools, each in the newest version that this package was tested with. */
const tools = ["@cloudflare/vitest-plugin", "vitest", "wrangler"] as const;

/** @param versions the version of this package, and of the packages that it is built with */
export function templateDependencies(
  versions: Readonly<Record<string, string>>,
): Record<string, string> {
  const { ledge, typescript } = versions;
  const chosen: Record<string, string | undefined> = { ledge, typescript };
  for (const name of tools) chosen[name] = testedVersions[name][1];
  const names = Object.keys(chosen).toSorted();
  return Object.fromEntries(names.map((name) => [name, `^${chosen[name]}`]));
}

export function templateFiles(
  name: string,
  versions: Readonly<Record<string, string>>,
  manager: PackageManager,
): Record<string, string> {
  return {
    "package.json": packageJson(name, versions),
    "wrangler.jsonc": wranglerJsonc(name),
    "tsconfig.json": tsconfigJson,
    "vitest.config.ts": vitestConfig,
    "seed/buckets/FILES/hello.txt": "Hello from the seed!\n",
    "src/index.ts": script,
    "test/index.test.ts": test,
    ".gitignore": "node_modules/\n.wrangler/\n.dev.vars*\n.ledge-*\n",
    "README.md": readme(name, manager),
  };
}

function packageJson(name: string, versions: Readonly<Record<string, string>>): string {
  const description = {
    name,
    private: true,
    type: "module",
    scripts: templateScripts,
    devDependencies: templateDependencies(versions),
    engines: { node: ">=22" },
  };
  return `${JSON.stringify(description, null, 2)}\n`;
}

/** Names of buckets have up to 63 characters, as the names of projects. */
function bucketName(name: string): string {
  return `${name.slice(0, 56).replace(/-+$/, "")}-files`;
}

function wranglerJsonc(name: string): string {
  const bucket = `{ "binding": "FILES", "bucket_name": "${bucketName(name)}" }`;
  return `{
  // wrangler's configuration, with store_buckets and state added.
  "$schema": "node_modules/ledge/dist/config-schema.json",
  "name": ${JSON.stringify(name)},
  "main": "src/index.ts",
  "compatibility_date": "2026-08-01",

  // env.FILES is a bucket. In development, .wrangler/state holds its objects.
  "store_buckets": [${bucket}],
  // An empty state starts with the files of seed/.
  "state": { "seed": "./seed" },
  // A deploy binds this bucket, and ignores store_buckets and state.
  "r2_buckets": [${bucket}],
}
`;
}

const tsconfigJson = `{
  "compilerOptions": {
    "target": "ES2024",
    "lib": ["ES2024"],
    "module": "ESNext",
    "moduleResolution": "Bundler",
    "strict": true,
    "noUncheckedIndexedAccess": true,
    "skipLibCheck": true,
    "noEmit": true,
    // \`npm run types\` writes the first of these files.
    "types": ["./worker-configuration.d.ts", "@cloudflare/vitest-plugin/types"]
  },
  "include": ["src", "test", "worker-configuration.d.ts"]
}
`;

const vitestConfig = `import { ledge } from "ledge/vitest";
import { defineConfig } from "vitest/config";

export default defineConfig({ plugins: [ledge()] });
`;

const script = `/** Files in a bucket: PUT, GET and DELETE a file; GET / lists the files. */
export default {
  async fetch(request, env): Promise<Response> {
    try {
      return await answer(request, env.FILES);
    } catch (error) {
      console.error(error);
      return new Response("The bucket does not answer\\n", { status: 503 });
    }
  },
} satisfies ExportedHandler<Env>;

async function answer(request: Request, files: Env["FILES"]): Promise<Response> {
  const key = decodeURIComponent(new URL(request.url).pathname.slice(1));
  if (key === "") {
    const { objects } = await files.list();
    return Response.json(objects.map(({ key, size, uploaded }) => ({ key, size, uploaded })));
  }

  switch (request.method) {
    case "PUT": {
      const { httpEtag } = await files.put(key, request.body, { httpMetadata: request.headers });
      return new Response(null, { status: 201, headers: { etag: httpEtag } });
    }
    case "GET": {
      const object = await files.get(key, { onlyIf: request.headers });
      if (object === null) return new Response("Not found\\n", { status: 404 });
      const headers = new Headers({ etag: object.httpEtag });
      object.writeHttpMetadata(headers);
      // The object has no body when the caller's copy is current.
      return "body" in object
        ? new Response(object.body, { headers })
        : new Response(null, { status: 304, headers });
    }
    case "DELETE":
      await files.delete(key);
      return new Response(null, { status: 204 });
    default:
      return new Response(null, { status: 405, headers: { allow: "GET, PUT, DELETE" } });
  }
}
`;

const test = `import { env, exports } from "cloudflare:workers";
import { calls, clock, contents, faults, seed } from "ledge/test";
import { expect, test } from "vitest";
// vitest runs these tests again when the script changes.
import "../src/index";

const url = "http://example.com/hello.txt";

test("stores a file and returns it", async () => {
  const put = await exports.default.fetch(url, {
    method: "PUT",
    body: "Hello!",
    headers: { "content-type": "text/plain" },
  });
  expect(put.status).toBe(201);
  expect(calls).toHavePut("hello.txt", { bytes: 6 });
  expect(await contents(env.FILES)).toEqual({ "hello.txt": "Hello!" });

  const got = await exports.default.fetch(url);
  expect(await got.text()).toBe("Hello!");
  expect(got.headers.get("content-type")).toBe("text/plain");

  const etag = got.headers.get("etag") ?? "";
  const unchanged = await exports.default.fetch(url, { headers: { "if-none-match": etag } });
  expect(unchanged.status).toBe(304);
});

test("begins with an empty bucket", async () => {
  expect((await exports.default.fetch(url)).status).toBe(404);
});

test("lists files with the time of their upload", async () => {
  await clock.set("2030-01-01T00:00:00Z");
  await seed(env.FILES, { "hello.txt": "Hello!" });
  const list = await exports.default.fetch("http://example.com/");
  expect(await list.json()).toEqual([
    { key: "hello.txt", size: 6, uploaded: expect.stringMatching(/^2030-01-01/) },
  ]);
});

test("answers 503 when the bucket fails", async () => {
  await faults.fail({ method: "put", key: "hello.txt" });
  const put = await exports.default.fetch(url, { method: "PUT", body: "Hello!" });
  expect(put.status).toBe(503);
  expect(await contents(env.FILES)).toEqual({});
});
`;

function readme(name: string, { name: manager, exec }: PackageManager): string {
  const commands = [
    [`${manager} install`, ""],
    [`${manager} run dev`, "runs the script on http://localhost:8787, and reloads it on changes"],
    [`${manager} run test`, "runs the tests inside the runtime"],
    [`${manager} run types`, "writes the types of env, after a change of wrangler.jsonc"],
    [`${manager} run check`, "writes the types and runs the compiler"],
  ];
  const lines = commands.map(([command = "", use]) =>
    use === "" ? `    ${command}` : `    ${command.padEnd(16)} # ${use}`,
  );
  return `# ${name}

A script with a bucket, on [Ledge](https://www.npmjs.com/package/ledge).

${lines.join("\n")}

While \`${manager} run dev\` runs:

    curl http://localhost:8787/hello.txt
    curl -T README.md http://localhost:8787/README.md
    curl http://localhost:8787/

The first file comes from \`seed/\`. \`${exec} ledge state reset\` starts from there again.

The first deploy needs the bucket:

    ${exec} wrangler r2 bucket create ${bucketName(name)}
    ${manager} run deploy
`;
}
