/** The files that `ledge init` writes. */

const projectDependencies = [
  "@cloudflare/vitest-pool-workers",
  "ledge",
  "miniflare",
  "typescript",
  "vitest",
  "wrangler",
];

/** @param versions the version of each package, by name */
export function projectFiles(
  name: string,
  versions: Readonly<Record<string, string>>,
): Record<string, string> {
  return {
    "package.json": packageJson(name, versions),
    "wrangler.jsonc": wranglerJsonc(name),
    "tsconfig.json": tsconfigJson,
    "vitest.config.ts": vitestConfig,
    "src/index.ts": script,
    "test/index.test.ts": test,
    ".gitignore": "node_modules/\n.wrangler/\n.dev.vars*\n.ledge-*.wrangler.json\n",
    "README.md": readme(name),
  };
}

function packageJson(name: string, versions: Readonly<Record<string, string>>): string {
  const description = {
    name,
    private: true,
    type: "module",
    scripts: {
      dev: "ledge dev",
      test: "vitest run",
      types: "ledge types",
      check: "ledge types && tsc",
    },
    devDependencies: Object.fromEntries(
      projectDependencies.map((dependency) => [dependency, versions[dependency]]),
    ),
    engines: { node: ">=22" },
  };
  return `${JSON.stringify(description, null, 2)}\n`;
}

function wranglerJsonc(name: string): string {
  return `{
  // wrangler's configuration, with store_buckets added.
  "name": ${JSON.stringify(name)},
  "main": "src/index.ts",
  "compatibility_date": "2026-08-01",

  // env.FILES is a bucket. In development, .wrangler/state holds its objects.
  "store_buckets": [{ "binding": "FILES", "bucket_name": "files" }],
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
    "types": ["./worker-configuration.d.ts", "@cloudflare/vitest-pool-workers/types"]
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
    const key = decodeURIComponent(new URL(request.url).pathname.slice(1));
    if (key === "") {
      const { objects } = await env.FILES.list();
      return Response.json(objects.map(({ key, size }) => ({ key, size })));
    }

    switch (request.method) {
      case "PUT": {
        const { httpEtag } = await env.FILES.put(key, request.body, {
          httpMetadata: request.headers,
        });
        return new Response(null, { status: 201, headers: { etag: httpEtag } });
      }
      case "GET": {
        const object = await env.FILES.get(key, { onlyIf: request.headers });
        if (object === null) return new Response("Not found\\n", { status: 404 });
        const headers = new Headers({ etag: object.httpEtag });
        object.writeHttpMetadata(headers);
        // The object has no body when the caller's copy is current.
        return "body" in object
          ? new Response(object.body, { headers })
          : new Response(null, { status: 304, headers });
      }
      case "DELETE":
        await env.FILES.delete(key);
        return new Response(null, { status: 204 });
      default:
        return new Response(null, { status: 405, headers: { allow: "GET, PUT, DELETE" } });
    }
  },
} satisfies ExportedHandler<Env>;
`;

const test = `import { env, exports } from "cloudflare:workers";
import { expect, test } from "vitest";

const url = "http://example.com/hello.txt";

test("returns the file that was put", async () => {
  const put = await exports.default.fetch(url, {
    method: "PUT",
    body: "Hello!",
    headers: { "content-type": "text/plain" },
  });
  expect(put.status).toBe(201);
  expect(await env.FILES.head("hello.txt")).toMatchObject({ size: 6 });

  const got = await exports.default.fetch(url);
  expect(await got.text()).toBe("Hello!");
  expect(got.headers.get("content-type")).toBe("text/plain");

  const etag = got.headers.get("etag") ?? "";
  const unchanged = await exports.default.fetch(url, { headers: { "if-none-match": etag } });
  expect(unchanged.status).toBe(304);
});

test("answers 404 for a file that does not exist", async () => {
  expect((await exports.default.fetch("http://example.com/none")).status).toBe(404);
});
`;

function readme(name: string): string {
  return `# ${name}

A script with a bucket, on [Ledge](https://www.npmjs.com/package/ledge).

    npm install
    npm run dev      # runs the script on http://localhost:8787, and reloads it on changes
    npm test         # runs the tests inside the runtime
    npm run types    # writes the types of env, after a change of wrangler.jsonc
    npm run check    # writes the types and runs the compiler

While \`npm run dev\` runs:

    curl -T README.md http://localhost:8787/README.md
    curl http://localhost:8787/
`;
}
