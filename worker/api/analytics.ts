/** /zones/{zone}/dns_analytics. */
import { problem, requireValid, ZoneError } from "../../src/dns/record/problem.ts";
import { makeReport, readReportRequest } from "../../src/dns/rules/query-report.ts";
import { indexObject } from "../objects/index-object.ts";
import { replyWith } from "../objects/object-reply.ts";
import { isolateQueries } from "../replication/isolate-queries.ts";
import { countListenersQueries } from "../replication/listeners.ts";
import type { Handlers } from "./api-call.ts";

export const analyticsHandlers = {
  report: async ({ env, ids, path, parameters }) => {
    const request = requireValid((report) => readReportRequest(parameters, report));
    const zone = await indexObject(env).get(ids["zone"]!);
    if (zone === null) throw new ZoneError([problem.noRoute(path)]);
    const counts = [...isolateQueries.count(), ...(await countListenersQueries(env))];
    return replyWith(makeReport(counts, zone.name, request));
  },
} satisfies Handlers;
