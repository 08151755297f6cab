/** Attributes of a record, conflicts with existing records, and batches. */
import {
  type Failure,
  boolean,
  identical,
  ipv4,
  missing,
  nameInvalid,
  on,
  post,
  required,
  ttlInvalid,
} from "./case.ts";
import { caa, srv } from "./structured.ts";

// Proxied, comments, tags, settings.
for (const proxied of ["true", 1, {}])
  post({ type: "A", name: "new", content: "192.0.2.9", proxied }, boolean("proxied"));
for (const good of [
  caa,
  srv,
  { type: "TXT", content: "x" },
  { type: "MX", content: "x.test", priority: 1 },
  { type: "NS", content: "x.test" },
]) {
  post({ name: "new", ...good, proxied: true }, [9004, "This record type cannot be proxied."]);
}
const invalid: Failure = [9007, "Content for CNAME record is invalid."];
for (const target of ["nothing.example.com", "text.example.com", "missing.neighbour.test"]) {
  const failure: Failure = [9003, `Target ${target} is not allowed for a proxied record.`];
  post({ type: "CNAME", name: "new", content: target, proxied: true }, failure);
}
post({ type: "CNAME", name: "new", content: "new.example.com", proxied: true }, invalid);
post({ type: "CNAME", name: "@", content: "EXAMPLE.com." }, invalid);
export const a = { type: "A", name: "new", content: "192.0.2.9" };
post({ ...a, comment: "x".repeat(101) }, [
  9313,
  "DNS record comment exceeds the maximum length of 100 characters.",
]);
post({ ...a, comment: 7 }, [9404, "comment must be a string."]);
post({ ...a, comment: "two\nlines" }, [9434, "comment must not contain control characters."]);
for (const given of ["a:b", {}, [1], 7])
  post({ ...a, tags: given }, [9405, "tags must be a list of strings."]);
const tags = {
  a: "write name:value",
  ":b": "the name must not be empty",
  "a b:c": "the name must consist of letters, digits, - and _",
  [`${"x".repeat(33)}:y`]: "the name must have at most 32 characters",
  "CF-proxied:true": "names that begin with cf- are reserved",
  "a:b,c": "the value must not contain commas",
  "a: b": "the value must not begin with a space",
  "a:b\u0001c": "the value must not contain control characters",
  [`a:${"x".repeat(101)}`]: "the value must have at most 100 characters",
};
for (const [tag, rule] of Object.entries(tags)) {
  post({ ...a, tags: [tag] }, [9433, `Tag ${tag} is invalid: ${rule}.`]);
}
post({ ...a, tags: Array.from({ length: 21 }, (_, index) => `t${index}:x`) }, [
  9300,
  "DNS record has 21 tags, exceeding the quota of 20.",
]);
post({ ...a, settings: "x" }, [9402, "settings must be an object."]);
post({ ...a, settings: { ipv4_only: 1 } }, boolean("settings.ipv4_only"));
post({ ...a, settings: { ipv4_only: true, ipv6_only: true } }, [
  9415,
  "settings.ipv4_only and settings.ipv6_only cannot both be set.",
]);
post({ ...a, settings: { flatten_cname: true } }, [
  9435,
  "Setting flatten_cname does not apply to A records.",
]);
post(
  { type: "A", name: "1", content: "x", ttl: 2, comment: 1 },
  nameInvalid,
  [9404, "comment must be a string."],
  ttlInvalid,
  ipv4,
);

// Conflicts with existing records.
const hostTaken: Failure = [81053, "An A, AAAA, or CNAME record with that host already exists."];
const cnameTaken: Failure = [81054, "A CNAME record with that host already exists."];
const nsTaken: Failure = [81056, "NS records with that host already exist."];
post({ type: "A", name: "www", content: "192.0.2.1" }, identical);
post(
  { type: "A", name: "WWW.example.com.", content: "192.0.2.1", ttl: 300, comment: "x" },
  identical,
);
post({ type: "MX", name: "@", content: "MAIL.example.com.", priority: 10 }, identical);
post({ type: "TXT", name: "text", content: "hello" }, identical);
post({ type: "NS", name: "@", content: "ns1.ledge.local" }, identical);
post({ type: "CNAME", name: "www", content: "x.test" }, hostTaken);
post({ type: "CNAME", name: "alias", content: "y.test" }, hostTaken);
post({ type: "A", name: "alias", content: "192.0.2.9" }, cnameTaken);
post({ type: "AAAA", name: "alias", content: "::9" }, cnameTaken);
post({ type: "A", name: "delegated", content: "192.0.2.9" }, nsTaken);
post({ type: "TXT", name: "delegated", content: "x" }, nsTaken);
post({ type: "NS", name: "www", content: "x.test" }, [
  81055,
  "Records of another type with that host already exist; NS cannot join them.",
]);

// Existing and absent records.
const nowhere = "/dns_records/00000000000000000000000000000000";
for (const method of ["GET", "DELETE"]) on(method, nowhere, undefined, 404, missing);
on("PUT", nowhere, a, 404, missing);
on("PATCH", nowhere, {}, 404, missing);
const record = "/dns_records/{id}";
on("PUT", record, {}, 400, required("type"), required("name"));
on("PUT", record, { type: "A", name: "www" }, 400, required("content"));
on("PUT", record, { type: "A", name: "alias", content: "192.0.2.9" }, 400, cnameTaken);
on("PATCH", record, { content: "x" }, 400, ipv4);
on("PATCH", record, { ttl: 2 }, 400, ttlInvalid);
on("PATCH", record, { name: "alias" }, 400, cnameTaken);
on("PATCH", record, { type: "MX" }, 400, required("priority"), required("content"));
on("PATCH", record, { content: "192.0.2.2" }, 400, identical);
on("PATCH", record, { content: null }, 400, required("content"));

// Batches.
const batch = (body: unknown, ...errors: Failure[]) =>
  on("POST", "/dns_records/batch", body, errors[0]?.[0] === missing[0] ? 404 : 400, ...errors);
/** The operation of a batch comes first. */
const at = (place: string, [code, message]: Failure): Failure => [code, `${place}: ${message}`];
const empty: Failure = [9443, "A batch needs at least one of deletes, patches, puts and posts."];
batch({}, empty);
batch({ posts: [] }, empty);
batch({ posts: {} }, [9405, "posts must be a list of objects."]);
batch({ deletes: ["x"] }, [9405, "deletes must be a list of objects."]);
for (const list of ["deletes", "patches", "puts"]) {
  batch({ [list]: [{ id: "{id}" }, {}] }, at(`${list}[1]`, required("id")));
}
batch({ deletes: [{ id: "{id}" }, { id: "0".repeat(32) }] }, at("deletes[1]", missing));
batch({ patches: [{ id: "{id}", content: "x" }] }, at("patches[0]", ipv4));
batch({ posts: [a, { ...a, content: "x" }] }, at("posts[1]", ipv4));
batch({ posts: [a, a] }, at("posts[1]", identical));
const many = Array.from({ length: 3501 }, () => ({}));
batch({ posts: many }, [9442, "A batch holds at most 3500 operations."]);
