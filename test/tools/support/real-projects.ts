/** The real projects of `projects.ts`: how each is prepared, and how its bucket is used. */
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { appendFileSync, copyFileSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

export interface RealProject {
  readonly repository: string;
  readonly commit: string;
  /** The folder of the script in the repository. */
  readonly folder?: string;
  readonly isVite?: true;
  /** Options of `add` of the package manager. */
  readonly addOptions?: string;
  /** Makes what the project asks of its user. */
  readonly prepare?: (folder: string) => void;
  /** Options of the dev server. */
  readonly environment?: readonly string[];
  readonly tests?: string;
  readonly types: string;
  readonly deploy: string;
  /** What the output of the deploy contains. */
  readonly deployed: RegExp;
  /** Requests that use the bucket. `run` runs a command in the folder. */
  readonly use: (url: string, run: (command: string) => Promise<string>) => Promise<void>;
}

const dryRun = "wrangler deploy --dry-run --outdir dry-run";

export const projects: readonly RealProject[] = [
  // pnpm, vitest with an old pool, a configuration for tests, a placeholder for a bucket's name
  {
    repository: "cloudflare/serverless-registry",
    commit: "5f97b0e",
    addOptions: "-w",
    prepare: (folder) => {
      copyFileSync(join(folder, "wrangler.example.jsonc"), join(folder, "wrangler.jsonc"));
    },
    environment: ["--env", "dev"],
    tests: "vitest run",
    types: "npx --yes pnpm@11.5.2 run typecheck",
    deploy: `${dryRun} --env dev`,
    deployed: /env\.REGISTRY \(r2-image-registry-dev\) +R2 Bucket/,
    use: async (url) => {
      const headers = { authorization: `Basic ${btoa("hello:world")}` };
      const begun = await fetch(`${url}/v2/cat/blobs/uploads/`, { method: "POST", headers });
      const location = new URL(begun.headers.get("location") ?? "", url);
      const digest = `sha256:${createHash("sha256").update("meow").digest("hex")}`;
      location.searchParams.set("digest", digest);
      const put = await fetch(location, {
        method: "PUT",
        body: "meow",
        headers: { ...headers, "content-type": "application/octet-stream" },
      });
      assert.equal(put.status, 201, await put.text());
      const got = await fetch(`${url}/v2/cat/blobs/${digest}`, { headers });
      assert.equal(await got.text(), "meow");
    },
  },
  // pnpm, "moduleResolution": "node", TOML, a dev script with --remote
  {
    repository: "kotx/render",
    commit: "f6f2937",
    types: "tsc --noEmit",
    deploy: dryRun,
    deployed: /env\.R2_BUCKET \(kot\) +R2 Bucket/,
    use: async (url, run) => {
      assert.equal((await fetch(`${url}/none.txt`)).status, 404);
      await run("printf meow > cat.txt && ledge store put kot/cat.txt cat.txt");
      assert.equal(await (await fetch(`${url}/cat.txt`)).text(), "meow");
    },
  },
  // npm, "moduleResolution": "node", secrets
  {
    repository: "abersheeran/r2-webdav",
    commit: "fceae53",
    prepare: (folder) => writeFileSync(join(folder, ".dev.vars"), "USERNAME=ada\nPASSWORD=cat\n"),
    types: "tsc --noEmit",
    deploy: dryRun,
    deployed: /env\.bucket \(webdav\) +R2 Bucket/,
    use: async (url) => {
      const headers = { authorization: `Basic ${btoa("ada:cat")}` };
      const put = await fetch(`${url}/cat.txt`, { method: "PUT", body: "meow", headers });
      assert.equal(put.ok, true, await put.text());
      assert.equal(await (await fetch(`${url}/cat.txt`, { headers })).text(), "meow");
      const listed = await fetch(url, { method: "PROPFIND", headers: { ...headers, depth: "1" } });
      assert.match(await listed.text(), /cat\.txt/);
    },
  },
  // pnpm, Vite with React Router, D1, secrets, a handler of mail
  {
    repository: "akazwz/smail",
    commit: "6dbda89",
    isVite: true,
    prepare: (folder) => appendFileSync(join(folder, ".dev.vars"), "SESSION_SECRETS=secret\n"),
    types: "react-router typegen && tsc -b",
    deploy: `react-router build && ${dryRun}`,
    deployed: /env\.R2 \(smailv3\) +R2 Bucket/,
    use: async (url, run) => {
      await run("CI=1 wrangler d1 migrations apply D1 --local");
      const mail = `From: <a@example.com>\r\nTo: <b@example.com>\r\nMessage-ID: <1@example.com>\r\nSubject: Cat\r\n\r\nmeow\r\n`;
      const query = "from=a@example.com&to=b@example.com";
      const sent = await fetch(`${url}/cdn-cgi/handler/email?${query}`, {
        method: "POST",
        body: mail,
      });
      assert.equal(sent.status, 200, await sent.text());
      // The keys of this script have 21 characters.
      assert.match(await run("ledge store list smailv3"), / [\w-]{21}$/m);
    },
  },
  // pnpm, a monorepo, vitest 3 with the pool of that time
  {
    repository: "G4brym/R2-Explorer",
    commit: "b8c587e",
    folder: "packages/worker/dev",
    addOptions: "-w",
    prepare: (folder) => {
      // The page of the dashboard, which takes minutes to build.
      const page = join(folder, "../../dashboard/dist/spa");
      mkdirSync(page, { recursive: true });
      writeFileSync(join(page, "index.html"), "<title>Dashboard</title>");
      writeFileSync(join(folder, ".dev.vars"), "BASIC_USERNAME=ada\nBASIC_PASSWORD=cat\n");
    },
    tests: "cd .. && vitest run --config tests/vitest.config.mts",
    types: "cd .. && tsc",
    deploy: dryRun,
    deployed: /env\.teste \(teste\) +R2 Bucket/,
    use: async (url, run) => {
      await run("printf meow > cat.txt && ledge store put teste/cat.txt cat.txt");
      const headers = { authorization: `Basic ${btoa("ada:cat")}` };
      const listed = await fetch(`${url}/api/buckets/teste`, { headers });
      assert.match(await listed.text(), /cat\.txt/);
    },
  },
];
