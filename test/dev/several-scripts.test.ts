/** `ledge dev` with several configuration files: several scripts in one server. */
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { createProject, ledgeDev, waitForAnswer, write } from "../support/dev-process.ts";
import { runInProcess } from "../support/in-process-command.ts";

const payments = (greeting: string) => `
  import { DurableObject, WorkerEntrypoint } from "cloudflare:workers";
  export class Ledger extends DurableObject {
    async add() {
      const count = ((await this.ctx.storage.get("count")) ?? 0) + 1;
      await this.ctx.storage.put("count", count);
      return count;
    }
  }
  export default class extends WorkerEntrypoint {
    async fetch(request) {
      if (request.url.endsWith("/throw")) throw new Error("no money");
      await this.env.RECEIPTS.put("last", "receipt");
      return new Response("${greeting}");
    }
    async queue({ messages }) {
      for (const { body } of messages) await this.env.RECEIPTS.put("queued", body);
    }
  }`;

const shop = `
  const text = async (object) => (object === null ? null : object.text());
  export default {
    async fetch(request, env) {
      const { pathname } = new URL(request.url);
      if (pathname === "/throw") return env.PAYMENTS.fetch("http://payments/throw");
      if (pathname === "/send") await env.ORDERS.send("order");
      await env.PHOTOS.put("cat", "meow");
      const ledger = env.LEDGERS.get(env.LEDGERS.idFromName("one"));
      return Response.json({
        service: await text(await env.PAYMENTS.fetch("http://payments/")),
        count: pathname === "/add" ? await ledger.add() : null,
        photo: await text(await env.PHOTOS.get("cat")),
        // The bucket of the other script, by its name.
        receipt: await text(await env.RECEIPTS.get("last")),
        queued: await text(await env.RECEIPTS.get("queued")),
        place: env.PLACE ?? null,
      });
    },
  };`;

const common = { compatibility_date: "2026-08-01" };
const shopConfiguration = {
  ...common,
  name: "shop",
  main: "index.js",
  services: [{ binding: "PAYMENTS", service: "payments" }],
  queues: { producers: [{ binding: "ORDERS", queue: "orders" }] },
  durable_objects: {
    bindings: [{ name: "LEDGERS", class_name: "Ledger", script_name: "payments" }],
  },
  store_buckets: [
    { binding: "PHOTOS", bucket_name: "photos" },
    { binding: "RECEIPTS", bucket_name: "receipts" },
  ],
};

function project(): string {
  return createProject({
    "shop/wrangler.jsonc": shopConfiguration,
    "shop/index.js": shop,
    "payments/wrangler.jsonc": {
      ...common,
      name: "payments",
      main: "src/index.js",
      migrations: [{ tag: "v1", new_sqlite_classes: ["Ledger"] }],
      durable_objects: { bindings: [{ name: "OWN", class_name: "Ledger" }] },
      queues: { consumers: [{ queue: "orders", max_batch_timeout: 0 }] },
      r2_buckets: [{ binding: "RECEIPTS", bucket_name: "receipts" }],
    },
    "payments/src/index.js": payments("paid"),
  });
}

const files = ["-c", "shop/wrangler.jsonc", "-c", "payments/wrangler.jsonc"];

describe("ledge dev with two configuration files", { timeout: 240_000 }, () => {
  it("runs both scripts, with bindings between them, one state and each file watched", async () => {
    const folder = project();
    const dev = ledgeDev(folder, "--no-dns", "--adopt", ...files);
    const url = await dev.url();
    expect(dev.output.replaceAll(/ {2,}/g, "  ")).toMatch(
      new RegExp(
        [
          "^  beside  payments$[^]*",
          "^State  shop/\\.wrangler/state$[^]*",
          "^Script shop$[^]*",
          "^env\\.PHOTOS \\(photos\\)  Store Bucket  local$[^]*",
          "^env\\.LEDGERS \\(Ledger, defined in payments\\)  Durable Object  local \\[connected\\]$[^]*",
          "^env\\.PAYMENTS \\(payments\\)  Worker  local \\[connected\\]$[^]*",
          "^Script payments$[^]*",
          "^env\\.RECEIPTS \\(receipts\\)  Store Bucket  local$",
        ].join(""),
        "m",
      ),
    );
    const answer = {
      service: "paid",
      count: null as number | null,
      photo: "meow",
      receipt: "receipt",
      queued: null as string | null,
      place: null as string | null,
    };
    await waitForAnswer(url, answer);
    expect(await (await fetch(`${url}/add`)).json()).toEqual({ ...answer, count: 1 });
    await fetch(`${url}/send`);
    await waitForAnswer(url, { ...answer, queued: "order" });

    await fetch(`${url}/throw`);
    await dev.waitForOutput(/no money\n +at .*payments\/src\/index\.js:12:\d+/);

    write(join(folder, "payments/src/index.js"), payments("paid twice"));
    await waitForAnswer(url, { ...answer, service: "paid twice", queued: "order" });
    write(join(folder, "shop/wrangler.jsonc"), { ...shopConfiguration, vars: { PLACE: "here" } });
    const last = { ...answer, service: "paid twice", queued: "order", place: "here" };
    await waitForAnswer(url, last);
    const since = dev.output.length;
    write(join(folder, "payments/wrangler.jsonc"), { name: "payments", store_buckets: 1 });
    await dev.waitForOutput(
      /payments\/wrangler\.jsonc:\d+:\d+: .*\nThe previous configuration stays in use\./,
      since,
    );
    await waitForAnswer(url, last);
    expect(await dev.end("SIGINT")).toBe(130);
    await dev.processesEnd();
  });

  it("refuses scripts of one name, and says which file is wrong", async () => {
    const folder = project();
    const same = await runInProcess(folder, [
      "dev",
      "--no-dns",
      ...files.slice(0, 2),
      ...files.slice(0, 2),
    ]);
    expect(same).toMatchObject({
      code: 1,
      error: expect.stringContaining('Two configuration files name their script "shop".') as string,
    });
    const none = await runInProcess(folder, [
      "dev",
      "--no-dns",
      ...files.slice(0, 2),
      "-c",
      "none.json",
    ]);
    expect(none).toMatchObject({ code: 3, error: expect.stringContaining("none.json") as string });
  });
});
