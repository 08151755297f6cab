/** Lists, settings, routes, methods, bodies and zone files. */
import { type Failure, boolean, host, on, range, raw } from "./case.ts";
import { a } from "./zone.ts";

// Lists, settings, routes and methods.
const oneOf = (field: string, ...values: string[]): Failure => [
  9412,
  `${field} must be one of ${values.join(", ")}.`,
];
const upwards = (field: string): Failure => [
  9436,
  `${field} must be a whole number from 1 upwards.`,
];
const list = (query: string, ...errors: Failure[]) =>
  on("GET", `/dns_records?${query}`, undefined, 400, ...errors);
list("page=0", upwards("page"));
list("per_page=x", upwards("per_page"));
list("order=id", oneOf("order", "type", "name", "content", "ttl", "proxied"));
list("direction=up", oneOf("direction", "asc", "desc"));
const matches = [oneOf("match", "any", "all"), oneOf("tag_match", "any", "all")];
list("match=some&tag_match=none", ...matches);
list("proxied=maybe", oneOf("proxied", "true", "false"));
const settings = (body: unknown, ...errors: Failure[]) =>
  on("PATCH", "/dns_settings", body, 400, ...errors);
settings({ flatten_all_cnames: "yes" }, boolean("flatten_all_cnames"));
settings({ ns_ttl: 1 }, range("ns_ttl", 86_400, 30));
settings({ soa: 7 }, [9402, "soa must be an object."]);
const soa = { retry: 1, mname: "a b" };
settings({ soa }, range("soa.retry", 86_400, 600), host("soa.mname"));
settings({ zone_mode: "x" }, oneOf("zone_mode", "standard", "cdn_only", "dns_only"));
on("PATCH", "/settings/http3", { value: "maybe" }, 400, oneOf("value", "on", "off"));
on("PATCH", "", { paused: "x" }, 400, boolean("paused"));
on("PATCH", "", { vanity_name_servers: ["a b"] }, 400, host("vanity_name_servers"));
on("PUT", "/dns_records", a, 405, [7001, "Method PUT not available for that URI."]);
on("POST", "/dns_records/export", a, 405, [7001, "Method POST not available for that URI."]);
const unrouted = ["/nothing", "/dns_records/short", "/dns_records/{id}/more", "/settings/unknown"];
for (const path of unrouted) {
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
const large: Failure = [9440, "Request body is larger than 4194304 bytes."];
raw("POST", "/dns_records", json, `{"comment":"${"x".repeat(5_000_000)}"}`, 413, large);
raw("POST", "/dns_records/batch", json, " ".repeat(5_000_000), 413, large);

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
const noFile: Failure = [9444, "file is a required field of the form."];
const notForm: Failure = [9207, "Content-type must be multipart/form-data."];
raw("POST", "/dns_records/import", json, "{}", 400, notForm);
raw("POST", "/dns_records/import", boundary, "nonsense", 400, noFile);
file("other", "x", 400, noFile);
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
