import { expect, it } from "vitest";
import { errorOf } from "../../../test/support/error-of.ts";
import {
  matchesQuestion,
  refuseUnreachable,
  type FaultQuestion,
  type QueryFaultInput,
  type ServerReach,
} from "./query-fault.ts";
import { readQueryFault } from "./read-fault.ts";

const question: FaultQuestion = {
  name: "www.example.org",
  type: "A",
  transport: "udp",
  server: "127.0.0.1",
  ednsSize: 1232,
};

const transfer = { type: "AXFR", transport: "tcp" } as const;
const notify = { type: "SOA", name: "example.org", transport: "notify" } as const;

it.each<[QueryFaultInput, Partial<FaultQuestion>, boolean]>([
  [{ kind: "drop" }, {}, true],
  [{ kind: "drop", name: "www.example.org", type: "A" }, {}, true],
  [{ kind: "drop", name: "*.example.org" }, {}, true],
  [{ kind: "drop", name: "example.org" }, {}, false],
  [{ kind: "drop", type: ["AAAA", "TXT"] }, {}, false],
  [{ kind: "drop", transport: "tcp" }, {}, false],
  [{ kind: "drop", transport: "tcp" }, { transport: "tls" }, false],
  [{ kind: "drop", transport: "tls" }, { transport: "tls" }, true],
  [{ kind: "drop", server: "127.0.0.2" }, {}, false],
  [{ kind: "drop", server: "127.0.0.1" }, {}, true],
  [{ kind: "drop", server: "0:0::1" }, { server: "::1" }, true],
  // The names at and below a zone, by labels.
  [{ kind: "lame", zone: "example.org" }, {}, true],
  [{ kind: "lame", zone: "example.org" }, { name: "example.org" }, true],
  [{ kind: "lame", zone: "example.org" }, { name: "bexample.org" }, false],
  [{ kind: "lame", zone: "." }, {}, true],
  [{ kind: "truncate" }, { transport: "tcp" }, false],
  [{ kind: "wrong_id" }, { transport: "https" }, false],
  [{ kind: "tcp_reset" }, { transport: "tls" }, true],
  [{ kind: "tcp_reset" }, {}, false],
  [{ kind: "other_port" }, {}, true],
  [{ kind: "other_port" }, { transport: "tcp" }, false],
  [{ kind: "no_edns" }, {}, true],
  [{ kind: "no_edns" }, { ednsSize: null }, false],
  [{ kind: "ttl", ttl: 5 }, transfer, false],
  [{ kind: "stale" }, transfer, false],
  [{ kind: "drop" }, transfer, true],
  // NOTIFY and queries are kept apart.
  [{ kind: "lost_notify", zone: "example.org" }, notify, true],
  [{ kind: "lost_notify", zone: "example.net" }, notify, false],
  [{ kind: "lost_notify" }, {}, false],
  [{ kind: "drop" }, notify, false],
])("matchesQuestion() of %j and %j is %s", (fault, changes, expected) => {
  expect(matchesQuestion(readQueryFault(fault).target, { ...question, ...changes })).toBe(expected);
});

const reach: ServerReach = {
  hosts: ["127.0.0.1", "::1"],
  hasTls: false,
  secondaries: ["192.0.2.53"],
};
const httpOnly = { ...reach, hosts: [], secondaries: [] };

it.each<[QueryFaultInput, ServerReach, string | null]>([
  [{ kind: "drop" }, httpOnly, null],
  [{ kind: "drop", transport: "https" }, httpOnly, null],
  [{ kind: "drop", transport: "udp" }, httpOnly, '"transport": "udp" has no effect here: this'],
  [{ kind: "truncate" }, httpOnly, '"truncate" has no effect here: this server has no listeners'],
  [{ kind: "lost_notify" }, httpOnly, '"lost_notify" has no effect here'],
  [{ kind: "drop", server: "127.0.0.1" }, httpOnly, "this server has no listeners"],
  [{ kind: "drop", server: "127.0.0.1" }, reach, null],
  [
    { kind: "drop", server: "127.0.0.9" },
    reach,
    "no address of this server. Use 127.0.0.1 or ::1.",
  ],
  [{ kind: "drop", server: "127.0.0.9" }, { ...reach, hosts: null }, null],
  [{ kind: "drop", transport: "tls" }, reach, "set tls_port of [dns]"],
  [{ kind: "drop", transport: "tls" }, { ...reach, hasTls: true }, null],
  [{ kind: "lost_notify", server: "192.0.2.53" }, reach, null],
  [{ kind: "lost_notify", server: "127.0.0.1" }, reach, "no secondary of this server"],
  [{ kind: "lost_notify" }, { ...reach, secondaries: [] }, "this server has no secondaries"],
])("refuseUnreachable() of %j at %j: %s", (fault, server, sentence) => {
  const refusal = errorOf(() => refuseUnreachable(readQueryFault(fault).target, server));
  expect((refusal as Error | null)?.message ?? "").toContain(sentence ?? "");
  expect(refusal === null).toBe(sentence === null);
});
