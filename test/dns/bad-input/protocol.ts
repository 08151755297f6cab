/** Lists, settings, routes, methods, bodies and zone files. */
import { type Failure, boolean, host, on, range, raw } from "./case.ts";
import { a } from "./zone.ts";

// Lists, settings, routes and methods.
const oneOf = (field: string, ...values: string[]): Failure => [
  9412,
  `${field} must be one of ${values.join(", ")}.`,
];
on("GET", "/dns_records?page=0", undefined, 400, [
  9436,
  "page must be a whole number from 1 upwards.",
]);
on("GET", "/dns_records?per_page=x", undefined, 400, [
  9436,
  "per_page must be a whole number from 1 upwards.",
]);
on(
  "GET",
  "/dns_records?order=id",
  undefined,
  400,
  oneOf("order", "type", "name", "content", "ttl", "proxied"),
);
on("GET", "/dns_records?direction=up", undefined, 400, oneOf("direction", "asc", "desc"));
on(
  "GET",
  "/dns_records?match=some&tag_match=none",
  undefined,
  400,
  oneOf("match", "any", "all"),
  oneOf("tag_match", "any", "all"),
);
on("GET", "/dns_records?proxied=maybe", undefined, 400, oneOf("proxied", "true", "false"));
on("PATCH", "/dns_settings", { flatten_all_cnames: "yes" }, 400, boolean("flatten_all_cnames"));
on("PATCH", "/dns_settings", { ns_ttl: 1 }, 400, range("ns_ttl", 86_400, 30));
on("PATCH", "/dns_settings", { soa: 7 }, 400, [9402, "soa must be an object."]);
on(
  "PATCH",
  "/dns_settings",
  { soa: { retry: 1, mname: "a b" } },
  400,
  range("soa.retry", 86_400, 600),
  host("soa.mname"),
);
on(
  "PATCH",
  "/dns_settings",
  { zone_mode: "x" },
  400,
  oneOf("zone_mode", "standard", "cdn_only", "dns_only"),
);
on("PATCH", "/settings/http3", { value: "maybe" }, 400, oneOf("value", "on", "off"));
on("PATCH", "", { paused: "x" }, 400, boolean("paused"));
on("PATCH", "", { vanity_name_servers: ["a b"] }, 400, host("vanity_name_servers"));
on("PUT", "/dns_records", a, 405, [7001, "Method PUT not available for that URI."]);
on("POST", "/dns_records/export", a, 405, [7001, "Method POST not available for that URI."]);
for (const path of [
  "/nothing",
  "/dns_records/short",
  "/dns_records/{id}/more",
  "/settings/unknown",
]) {
  on("GET", path, undefined, 404, [
    7003,
    `Could not route to /client/v4/zones/{zone}${path}, perhaps your object identifier is invalid?`,
  ]);
}

// Bodies.
const json = "application/json";
const malformed: Failure = [6007, "Malformed JSON in request body"];
for (const body of ["", "{", "{'a':1}", '{"a":1,}', "nope", '{"type":"A"', "\u0000"])
  raw("POST", "/dns_records", json, body, 400, malformed);
raw("POST", "/dns_records", json, Uint8Array.of(0x22, 0xff, 0x22), 400, malformed);
for (const body of ["[]", "7", '"x"', "null"])
  raw("POST", "/dns_records", json, body, 400, [9441, "Request body must be a JSON object."]);
const contentType: Failure = [9207, "Content-type must be application/json."];
for (const type of ["text/plain", "application/x-www-form-urlencoded", "application/jsonx", ""])
  raw("POST", "/dns_records", type, "{}", 400, contentType);
raw("PUT", "/dns_records/{id}", "text/plain", "{}", 400, contentType);
raw("PATCH", "/dns_records/{id}", "text/plain", "{}", 400, contentType);
raw("POST", "/dns_records/batch", "text/plain", "{}", 400, contentType);
raw("PATCH", "/dns_settings", "text/plain", "{}", 400, contentType);
raw("POST", "/dns_records", json, `{"comment":"${"x".repeat(5_000_000)}"}`, 413, [
  9440,
  "Request body is larger than 4194304 bytes.",
]);
raw("POST", "/dns_records/batch", json, " ".repeat(5_000_000), 413, [
  9440,
  "Request body is larger than 4194304 bytes.",
]);

// Zone files.
const boundary = "multipart/form-data; boundary=x";
function file(name: string, text_: string, status: number, ...errors: Failure[]): void {
  raw(
    "POST",
    "/dns_records/import",
    boundary,
    `--x\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${text_}\r\n--x--\r\n`,
    status,
    ...errors,
  );
}
const line = (number: number, reason: string): Failure => [9446, `Line ${number}: ${reason}.`];
raw("POST", "/dns_records/import", json, "{}", 400, [
  9207,
  "Content-type must be multipart/form-data.",
]);
raw("POST", "/dns_records/import", boundary, "nonsense", 400, [
  9444,
  "file is a required field of the form.",
]);
file("other", "x", 400, [9444, "file is a required field of the form."]);
file("file", "new A 192.0.2.9\n$INCLUDE x", 400, line(2, "$INCLUDE is not allowed"));
file(
  "file",
  "new A 192.0.2.9\nnew A x\nnew2 AAAA y",
  400,
  [9005, "Line 2: Content for A record must be a valid IPv4 address."],
  [9005, "Line 3: Content for AAAA record must be a valid IPv6 address."],
);
file("file", "new A 192.0.2.9\nalias A 192.0.2.9", 400, [
  81054,
  "Line 2: A CNAME record with that host already exists.",
]);
file("file", "new DNAME x", 400, [9400, 'Line 1: DNS record type "DNAME" is not supported.']);
file("file", 'new TXT "open', 400, line(1, "a quotation mark is not closed"));
file("file", "new MX 10", 400, line(1, "the data of a MX record is incomplete or too long"));
file("file", "new.other.test. A 192.0.2.9", 400, [9000, "Line 1: DNS name is invalid."]);
file("file", "x".repeat(262_145), 400, [9445, "Zone file is larger than 262144 bytes."]);
file("file", "x".repeat(400_000), 413, [9440, "Request body is larger than 327680 bytes."]);
