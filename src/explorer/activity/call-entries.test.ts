import { describe, expect, it } from "vitest";
import type { LoggedQuery } from "../../dns/fault/query-log.ts";
import type { LoggedCall } from "../../dns/rules/api-call.ts";
import type { FollowedCall } from "../../store/client/message.ts";
import { apiChanges, apiEntry, bucketEntry, edgeEntry, queryEntry } from "./call-entries.ts";

const put: FollowedCall = {
  id: 7,
  at: 1000,
  milliseconds: 4,
  client: "s3",
  bucket: "photos",
  method: "put",
  key: "a",
  keys: ["a"],
  bytes: 3,
  outcome: "ok",
  text: null,
};

const query: LoggedQuery = {
  name: "www.example.org",
  type: "A",
  transport: "udp",
  server: "127.0.0.1",
  askedName: "www.example.org",
  clientAddress: "127.0.0.1:53124",
  flags: ["rd"],
  ednsSize: null,
  clientSubnet: null,
  queryBytes: 33,
  answerBytes: 49,
  milliseconds: 1010,
  startedMilliseconds: 1000,
  rcode: "NOERROR",
  truncated: false,
  fault: null,
};

const call: LoggedCall = {
  id: 1,
  at: 1000,
  milliseconds: 2,
  client: null,
  method: "GET",
  path: "/client/v4/zones",
  status: 200,
  errors: [],
};

describe("bucketEntry()", () => {
  it("describes a call", () => {
    expect(bucketEntry(put)).toEqual({
      kind: "bucket",
      at: 1000,
      milliseconds: 4,
      outcome: "ok",
      note: null,
      source: "s3",
      method: "put",
      place: "photos",
      subject: "a",
      bytes: 3,
    });
  });

  it("has the text and the code of an error, and no size where there is no content", () => {
    const refused = { ...put, outcome: "error", code: 10001, text: "The disk is full." } as const;
    expect(bucketEntry(refused)).toMatchObject({ note: "The disk is full. (10001)", bytes: null });
    const deleted = { ...put, method: "delete", keys: ["a", "b"], bytes: 0, client: "" } as const;
    expect(bucketEntry(deleted)).toMatchObject({
      note: "and 1 more",
      bytes: null,
      source: "another process",
    });
  });
});

describe("queryEntry()", () => {
  it("describes a query, its duration and what went wrong", () => {
    expect(queryEntry(query)).toMatchObject({
      at: 1000,
      milliseconds: 10,
      outcome: "ok",
      note: null,
      source: "udp",
      method: "A",
      place: "127.0.0.1",
      subject: "www.example.org",
    });
    expect(queryEntry({ ...query, rcode: "NXDOMAIN" })).toMatchObject({
      outcome: "none",
      note: "NXDOMAIN",
    });
    expect(queryEntry({ ...query, rcode: null, fault: "drop" })).toMatchObject({
      outcome: "error",
      note: "No answer, fault drop",
    });
  });
});

describe("edgeEntry()", () => {
  const way = {
    method: "GET",
    url: "http://photos.example.com/cat.jpg",
    name: "photos.example.com",
    record: null,
    route: "photos.example.com/*",
    to: "script photos",
    status: 404,
    at: 1000,
    milliseconds: 3,
  };

  it("has the way to what answered, and the status", () => {
    expect(edgeEntry(way)).toMatchObject({
      kind: "edge",
      outcome: "ok",
      note: "photos.example.com/* → script photos",
      subject: "http://photos.example.com/cat.jpg",
      status: 404,
    });
    const record = "A app.example.com 127.0.0.1";
    const failed = { ...way, record, route: null, to: "origin 127.0.0.1:3000", status: 521 };
    expect(edgeEntry(failed)).toMatchObject({
      outcome: "error",
      note: "A app.example.com 127.0.0.1 → origin 127.0.0.1:3000",
    });
  });
});

describe("apiChanges()", () => {
  const zone = "/client/v4/zones/7";
  const records = { topic: "records", zone: "7" } as const;
  it.each([
    ["POST", "/client/v4/zones", [{ topic: "zones" }]],
    ["PATCH", zone, [{ topic: "zones" }, records]],
    ["DELETE", `${zone}?x`, [{ topic: "zones" }, records]],
    ["POST", `${zone}/dns_records`, [records]],
    ["PUT", `${zone}/dns_records/1`, [records]],
    ["PATCH", `${zone}/dnssec`, [records]],
    ["PATCH", `${zone}/settings/ssl`, []],
    ["GET", `${zone}/dns_records`, []],
    ["POST", "/client/v4/user/tokens/verify", []],
  ])("%s %s", (method, path, expected) => {
    expect(apiChanges({ ...call, method, path })).toEqual(expected);
    expect(apiChanges({ ...call, method, path, status: 400 })).toEqual([]);
  });
});

describe("apiEntry()", () => {
  it("describes a call, and its first error", () => {
    expect(apiEntry(call)).toMatchObject({ outcome: "ok", note: null, source: "http" });
    const errors = [{ code: 9109, message: "Unauthorized" }];
    expect(apiEntry({ ...call, status: 403, errors })).toMatchObject({
      outcome: "error",
      note: "Unauthorized (9109)",
    });
    expect(apiEntry({ ...call, status: 500 })).toMatchObject({ note: "Status 500" });
  });
});
