/** The configuration of secondaries in docs/dns.md is valid, and its key is the same everywhere. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { readConfig } from "../../src/config/read-config.ts";
import { temporaryFolder } from "../support/store.ts";

test("the configuration of secondaries is valid", () => {
  const page = readFileSync(new URL("../../docs/dns.md", import.meta.url), "utf8");
  const [, section] = /^## Secondaries\n([^]*?)^## /m.exec(page)!;
  const configPath = join(temporaryFolder(), "wrangler.toml");
  writeFileSync(configPath, /```toml\n([^]*?)```/.exec(section!)![1]!);
  const { dns: config } = readConfig({ configPath });
  const secret = config.transfers.keys[0]!.secret;
  expect(config.transfers).toEqual({
    keys: [{ name: "to-secondary", algorithm: "hmac-sha256", secret }],
    allow: ["127.0.0.1", "10.0.0.0/8", "key:to-secondary"],
    secondaries: [
      expect.objectContaining({ host: "127.0.0.1", port: 5301, key: config.transfers.keys[0] }),
    ],
  });
  // The configurations of Ledge, BIND and Knot have the same key.
  const uses = section!.split(Buffer.from(secret).toString("base64")).length - 1;
  expect(uses).toBe(3);
});
