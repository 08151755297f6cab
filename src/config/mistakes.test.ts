/** The mistakes of a configuration, with their positions and messages. */
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "smol-toml";
import { beforeEach, describe, expect, it } from "vitest";
import { temporaryFolder } from "../../test/support/temporary-folder.ts";
import { readConfig, withPlace, type ReadConfigOptions } from "./read-config.ts";

let folder: string;
beforeEach(() => void (folder = temporaryFolder()));

function write(name: string, text: string): void {
  writeFileSync(join(folder, name), text);
}

/** The lines of the message, with file names instead of paths. */
function mistakes(options: ReadConfigOptions = {}): string[] {
  try {
    readConfig({ folder, ...options });
  } catch (error) {
    return (error as Error).message.replaceAll(`${folder}/`, "").split("\n");
  }
  return [];
}

const good = 'binding = "PHOTOS"\nbucket_name = "photos"';
/** A TOML file, then `>`, the position in this file and in the same file as JSON, and the message. */
const rows = `
[dns]
https_port = "443"
> 2:1 3:5 dns.https_port must be true for port 8443, or a port, 0 to 65535; 0 takes any free port.

[dns]
tls_port = -1
> 2:1 3:5 dns.tls_port must be true for port 8853, or a port, 0 to 65535; 0 takes any free port.

[dns]
https_names = ["*.example.org"]
> 2:16 4:7 dns.https_names[0] must be a hostname, and no wildcard.

[s3]
port = 70000
> 2:1 3:5 s3.port must be a port, 0 to 65535; 0 takes any free port.

[s3]
hosts = ["store.test:80"]
> 2:10 4:7 s3.hosts[0] must be a host name or an address without a port, such as "store.test" or "[2001:db8::1]".

[s3]
secret_access_key = "0123456789"
> 1:1 2:3 s3 needs access_key_id too: credentials are a pair.

[[edge.origins]]
port = 3000
> 1:1 4:7 edge.origins[0].host is missing. Add it, as in "app.example.com".

edge.origins = [{ host = "10.0.0.0/33" }]
> 1:19 5:9 edge.origins[0].host must be a name, an address or a network, such as "app.example.com", "10.0.0.5" or "10.0.0.0/8".

edge.origins = [{ host = "app.example.com", protocol = "ftp" }]
> 1:45 6:9 edge.origins[0].protocol must be "http" or "https", not "ftp".

[edge]
country = "Germany"
> 2:1 3:5 edge.country must be a country code of two letters, such as "DE".

[edge]
hosts = ["a.example:80"]
> 2:10 4:7 edge.hosts[0] must be a host name or an address without a port, such as "name.tunnel.example".

[[store_buckets]]
binding = "PHOTOS"
bucket_name = "photos"
domains = ["cdn.example.com", "*.example.com"]
> 4:31 8:9 store_buckets[0].domains[1] must be a name, such as "cdn.example.com".

compatibility_date = "2026-13-45"
> 1:1 2:3 compatibility_date must be a date in the form YYYY-MM-DD, not "2026-13-45".

compatibility_date = 20260801
> 1:1 2:3 compatibility_date must be text, not a number.

compatibility_flags = "nodejs_compat"
> 1:1 2:3 compatibility_flags must be a list.

[[store_buckets]]
binding = "my-photos"
bucket_name = "photos"
> 2:1 4:7 store_buckets[0].binding "my-photos" is not a JavaScript identifier, so a script cannot write env.my-photos. Use letters, digits, "_" and "$", as in "MY_PHOTOS".

[[store_buckets]]
binding = "1st"
bucket_name = "photos"
> 2:1 4:7 store_buckets[0].binding "1st" is not a JavaScript identifier, so a script cannot write env.1st. Use letters, digits, "_" and "$", as in "_1ST".

[[store_buckets]]
bucket_name = "photos"
> 1:1 3:5 store_buckets[0].binding is missing. Add it, as in "PHOTOS".

[[store_buckets]]
binding = 7
bucket_name = "photos"
> 2:1 4:7 store_buckets[0].binding must be text, not a number.

[[store_buckets]]
binding = "PHOTOS"
bucket_name = "photos"
[[store_buckets]]
binding = "PHOTOS"
bucket_name = "photos"
> 5:1 8:7 store_buckets[1].binding "PHOTOS" is already taken by store_buckets[0].binding. Give one of them another name.

[[store_buckets]]
binding = "PHOTOS"
> 1:1 3:5 store_buckets[0].bucket_name is missing. Add it, as in "photos".

[[store_buckets]]
binding = "PHOTOS"
bucket_name = "my photos"
> 3:1 5:7 store_buckets[0].bucket_name "my photos" is not a valid bucket name. Use 1 to 63 letters, digits, ".", "_" and "-", beginning and ending with a letter or a digit.

[[store_buckets]]
binding = "PHOTOS"
bucket_name = ["photos"]
> 3:1 5:7 store_buckets[0].bucket_name must be text, not a list.

[[store_buckets]]
binding = "PHOTOS"
bucket_name = "photos"
preview_bucket_name = ""
> 4:1 6:7 store_buckets[0].preview_bucket_name "" is not a valid bucket name. Use 1 to 63 letters, digits, ".", "_" and "-", beginning and ending with a letter or a digit.

[[store_buckets]]
binding = "PHOTOS"
bucket_name = "photos"
verify_reads = "yes"
> 4:1 6:7 store_buckets[0].verify_reads must be true or false.

[[store_buckets]]
binding = "PHOTOS"
bucket_name = "photos"
storage_class = "standard"
> 4:1 6:7 store_buckets[0].storage_class must be "Standard" or "InfrequentAccess", not "standard".

[[store_buckets]]
binding = "PHOTOS"
bucket_name = "photos"
durability = "disk"
> 4:1 6:7 store_buckets[0].durability must be "power" or "process", not "disk".

[[store_buckets]]
binding = "PHOTOS"
bucketname = "photos"
> 3:1 5:7 store_buckets[0].bucketname is not a key; did you mean "bucket_name"?

[[store_buckets]]
binding = "PHOTOS"
bucket_name = "photos"
jurisdiction = "eu"
> 4:1 6:7 store_buckets[0].jurisdiction is not a key; known are binding, bucket_name, preview_bucket_name, storage_class, verify_reads, durability, list_trailing_delimiter, public, s3_compatibility, domains, remote.

[store_buckets]
binding = "PHOTOS"
bucket_name = "photos"
> 1:1 2:3 store_buckets must be a list: write [[store_buckets]], or a JSON array.

store_buckets = ["photos"]
> 1:18 3:5 store_buckets[0] must be a table, not text.

dns = true
> 1:1 2:3 dns must be a table, not a boolean.

[dns]
platform_adresses = ["127.0.0.1"]
> 2:1 3:5 dns.platform_adresses is not a key; did you mean "platform_addresses"?

[dns]
port = 65536
> 2:1 3:5 dns.port must be a port, 0 to 65535; 0 takes any free port.

[dns]
api_port = "8788"
> 2:1 3:5 dns.api_port must be a port, 0 to 65535; 0 takes any free port.

[dns]
binding = "d n s"
> 2:1 3:5 dns.binding "d n s" is not a JavaScript identifier, so a script cannot write env.d n s. Use letters, digits, "_" and "$", as in "D_N_S".

[[store_buckets]]
binding = "PHOTOS"
bucket_name = "photos"
[dns]
binding = "PHOTOS"
> 5:1 9:5 dns.binding "PHOTOS" is already taken by store_buckets[0].binding. Give one of them another name.

[dns]
name_rules = "loose"
> 2:1 3:5 dns.name_rules must be "strict" or "dns", not "loose".

[[dns.tokens]]
token = "local-token"
readonly = true
> 3:1 6:9 dns.tokens[0].readonly is not a key; did you mean "read_only"?

[[dns.zones]]
name = "example.com"
[[dns.zones]]
name = "not a name"
> 4:1 8:9 dns.zones[1].name must be a hostname.

[[dns.zones]]
name = "example.com"
[[dns.zones.records]]
type = "A"
name = "@"
[[dns.zones.records]]
type = "A"
name = "@"
content = "192.0.2.1"
> 3:1 7:11 dns.zones[0].records[0] is not a valid record of example.com: content is a required field.

[[dns.zones]]
name = "example.com"
[[dns.zones.records]]
typ = "A"
name = "@"
content = "192.0.2.1"
id = "1"
meta = {}
> 4:1 8:13 dns.zones[0].records[0].typ is not a key; did you mean "type"?
`;

describe("readConfig() refuses", () => {
  it.each(rows.trim().split("\n\n"))("%s", (row) => {
    const [, toml = "", inToml, inJson, message] = /^(.*)\n> (\S+) (\S+) (.*)$/s.exec(row) ?? [];
    write("wrangler.toml", toml);
    expect(mistakes()).toEqual([`wrangler.toml:${inToml}: ${message}`]);
    write("wrangler.jsonc", JSON.stringify(parse(toml), null, 2));
    expect(mistakes()).toEqual([`wrangler.jsonc:${inJson}: ${message}`]);
  });

  const others: [toml: string, owner: string][] = [
    ['[vars]\nX = "1"', "vars.X"],
    ['[[kv_namespaces]]\nbinding = "X"\nid = "1"', "kv_namespaces[0].binding"],
    ['[[d1_databases]]\nbinding = "X"', "d1_databases[0].binding"],
    ['[[services]]\nbinding = "X"\nservice = "y"', "services[0].binding"],
    ['[[durable_objects.bindings]]\nname = "X"', "durable_objects.bindings[0].name"],
    ['[[queues.producers]]\nbinding = "X"', "queues.producers[0].binding"],
    ['[assets]\nbinding = "X"', "assets.binding"],
    ['[ai]\nbinding = "X"', "ai.binding"],
    ['[[unsafe.bindings]]\nname = "X"\ntype = "y"', "unsafe.bindings[0].name"],
    ['[[send_email]]\nname = "X"', "send_email[0].name"],
    ['[secrets]\nrequired = ["Y", "X"]', "secrets.required[1]"],
    ['[text_blobs]\nX = "x.txt"', "text_blobs.X"],
  ];
  it.each(others)("a bucket with the name of %j", (toml, owner) => {
    write("wrangler.toml", `[[store_buckets]]\nbinding = "X"\nbucket_name = "x"\n${toml}`);
    expect(mistakes()).toEqual([
      `wrangler.toml:2:1: store_buckets[0].binding "X" is already taken by ${owner}. ` +
        "Give one of them another name.",
    ]);
  });

  it("two buckets of one name, even if they have other mistakes", () => {
    const bucket = '[[store_buckets]]\nbinding = "X"\nbucket_name = "?"\n';
    write("wrangler.toml", bucket + bucket);
    expect(mistakes().map((line) => line.slice(0, 51))).toEqual([
      'wrangler.toml:3:1: store_buckets[0].bucket_name "?"',
      'wrangler.toml:5:1: store_buckets[1].binding "X" is ',
      'wrangler.toml:6:1: store_buckets[1].bucket_name "?"',
    ]);
  });

  it("a date of TOML without quotes, as wrangler does", () => {
    write("wrangler.toml", "compatibility_date = 2026-08-01");
    expect(mistakes()).toEqual([
      "wrangler.toml:1:1: compatibility_date must be text, not a date without quotes.",
    ]);
  });

  it("a bucket with the name of a secret", () => {
    write(".dev.vars", "PHOTOS=secret");
    write("wrangler.toml", `[[store_buckets]]\n${good}`);
    expect(mistakes()).toEqual([
      'wrangler.toml:2:1: store_buckets[0].binding "PHOTOS" is already taken by .dev.vars. ' +
        "Give one of them another name.",
    ]);
  });

  it("an invalid secret of DNS", () => {
    write(".dev.vars", "DNS_KEY=short");
    expect(mistakes()).toEqual([
      ".dev.vars: DNS_KEY must have 16 to 128 letters, digits, hyphens and underscores.",
    ]);
  });

  const syntax: [file: string, text: string, message: string][] = [
    ["wrangler.toml", 'name = "x"\n[[store_buckets]\n', "wrangler.toml:2:17 is not TOML: "],
    ["wrangler.toml", "a = 1\na = 2", "wrangler.toml:2:1 is not TOML: "],
    ["wrangler.jsonc", '{\n  "a" 1 }', "wrangler.jsonc:2:7 is not JSON: a colon is expected."],
    ["wrangler.json", '{\n  "a": 1', "wrangler.json:2:9 is not JSON: a close brace is expected."],
    [
      "wrangler.json",
      "{}\n}",
      "wrangler.json:2:1 is not JSON: the file should end here, after its object.",
    ],
  ];
  it.each(syntax)("%s with the syntax of %j", (file, text, message) => {
    write(file, text);
    expect(mistakes()).toEqual([expect.stringContaining(message)]);
  });

  it("an environment that the file does not have", () => {
    write("wrangler.toml", "[env.staging]\n[env.production]");
    expect(mistakes({ environment: "stagign" })).toEqual([
      'wrangler.toml has no environment "stagign". Did you mean "staging"?',
    ]);
    expect(mistakes({ environment: "x" })).toEqual([
      'wrangler.toml has no environment "x". It has "staging", "production".',
    ]);
    write("wrangler.toml", "");
    expect(mistakes({ environment: "x" })).toEqual([
      'wrangler.toml has no environment "x", and no other environment: add [env.x], or leave the environment out.',
    ]);
    for (const name of ["__proto__", "constructor"]) {
      expect(mistakes({ environment: name })[0]).toContain(`has no environment "${name}"`);
    }
    rmSync(join(folder, "wrangler.toml"));
    expect(mistakes({ environment: "x" })[0]).toMatch(/^No configuration file exists in /);
  });

  it("several mistakes, in the order of the lines", () => {
    write(
      "wrangler.toml",
      '[dns]\nport = -1\n[[store_buckets]]\nbinding = "a b"\n[env.x]\n[[env.x.store_buckets]]\nbinding = "C"',
    );
    expect(mistakes().map((line) => line.slice(0, 48))).toEqual([
      "wrangler.toml:2:1: dns.port must be a port, 0 to",
      "wrangler.toml:3:1: store_buckets[0].bucket_name ",
      'wrangler.toml:4:1: store_buckets[0].binding "a b',
    ]);
    expect(mistakes({ environment: "x" }).map((line) => line.slice(0, 48))).toEqual([
      "wrangler.toml:2:1: dns.port must be a port, 0 to",
      "wrangler.toml:6:1: env.x.store_buckets[0].bucket",
    ]);
  });
});

function warnings(toml: string, options: ReadConfigOptions = {}): string[] {
  write("wrangler.toml", toml);
  return readConfig({ folder, ...options }).warnings.map((line) =>
    line.replaceAll(`${folder}/`, ""),
  );
}

describe("readConfig() warns", () => {
  it("of keys that look like the keys of Ledge, with their positions", () => {
    expect(
      warnings('name = "x"\n[[store_bucket]]\nbinding = "PHOTOS"\n[DNS]\nport = 1\n[remote.x]\n'),
    ).toEqual([
      'wrangler.toml:2:1: store_bucket is not a key; did you mean "store_buckets"?',
      'wrangler.toml:4:1: DNS is not a key; did you mean "dns"?',
      'wrangler.toml:6:1: remote is not a key; did you mean "remotes"?',
    ]);
    expect(warnings("[env.x]\nstore_bucket = []", { environment: "x" })).toEqual([
      'wrangler.toml:2:1: env.x.store_bucket is not a key; did you mean "store_buckets"?',
    ]);
  });

  it("of no other key: wrangler knows its keys", () => {
    // "dev" and "routes" are similar to "dns" and "remotes".
    expect(
      warnings('routes = ["example.com/*"]\n[dev]\nip = "::1"\n[[k2]]\nbinding = "X"'),
    ).toEqual([]);
    expect(warnings("some_key_of_tomorrow = 1")).toEqual([]);
  });
});

describe("withPlace()", () => {
  const toml = `compatibility_date = "2030-01-01"
compatibility_flags = ["nodejs_compat", "nodejs_compta"]
[env.x]
compatibility_flags = ["nodejs_cmopat"]`;
  const place = (message: string, environment?: string): string => {
    write("wrangler.toml", toml);
    return withPlace(readConfig({ folder, environment }), message).replaceAll(`${folder}/`, "");
  };

  it("adds the place of a flag or of the date to a message about it", () => {
    expect(place("service core:user:photos: No such compatibility flag: nodejs_compta")).toBe(
      "wrangler.toml:2:41: No such compatibility flag: nodejs_compta",
    );
    expect(place("No such compatibility flag: nodejs_cmopat\n    at fetch", "x")).toBe(
      "wrangler.toml:4:24: No such compatibility flag: nodejs_cmopat",
    );
    const future = 'Compatibility date "2030-01-01" is in the future and unsupported';
    expect(place(future)).toBe(`wrangler.toml:1:1: ${future}`);
    expect(place(future, "x")).toBe(`wrangler.toml:1:1: ${future}`);
  });

  it("leaves other messages as they are", () => {
    for (const text of ["", "No such compatibility flag: other", "incompatibility\nflag"]) {
      expect(place(text)).toBe(text);
    }
    expect(withPlace(readConfig({ folder: temporaryFolder() }), "compatibility date")).toBe(
      "compatibility date",
    );
  });
});
