import { describe, expect, it } from "vitest";
import { StoreError } from "../core/errors.ts";
import { metricsText, RemoteMetrics, requestName, type RemoteEvent } from "./remote-metrics.ts";
import { RemoteError, TransportError, type S3Message } from "./s3-transport.ts";

const message: S3Message = {
  method: "PUT",
  origin: "http://127.0.0.1",
  target: "/photos/a%20b/c",
  headers: {},
  signal: new AbortController().signal,
};
const answer = (status: number) => ({
  status,
  headers: new Headers({ "x-amz-request-id": "tx1" }),
  body: null,
});

function recorded() {
  const events: RemoteEvent[] = [];
  let time = 0;
  const metrics = new RemoteMetrics(
    (event) => events.push(event),
    () => (time += 30),
  );
  const lines = () => metricsText(new Map([["PHOTOS", metrics]])).split("\n");
  return { metrics, events, lines };
}

describe("RemoteMetrics", () => {
  it("counts operations by their outcome, and logs unknown outcomes", async () => {
    const { metrics, events, lines } = recorded();
    const lost = new RemoteError("unknown", "gave no answer");
    const conflict = { outcome: "not executed", reason: "conflict" } as const;
    const works: [string, Error | null][] = [
      ["put", null],
      ["put", lost],
      ["get", lost],
      ["put", new RemoteError("refused", "denied")],
      ["put", new StoreError(10031)],
      ["put", new StoreError(10001, "may have been stored", { failure: lost })],
      ["put", new StoreError(10058, undefined, { failure: conflict })],
    ];
    for (const [name, error] of works) {
      const work = () => (error === null ? Promise.resolve(1) : Promise.reject(error));
      const outcomes = await Promise.allSettled([metrics.measure(name, "k", work)]);
      expect(outcomes[0]?.status).toBe(error === null ? "fulfilled" : "rejected");
    }
    expect(lines().filter((line) => line.startsWith("ledge_store_operations_total"))).toEqual([
      'ledge_store_operations_total{binding="PHOTOS",operation="put",outcome="ok"} 1',
      'ledge_store_operations_total{binding="PHOTOS",operation="put",outcome="unknown"} 2',
      'ledge_store_operations_total{binding="PHOTOS",operation="get",outcome="failed"} 1',
      'ledge_store_operations_total{binding="PHOTOS",operation="put",outcome="failed"} 2',
      'ledge_store_operations_total{binding="PHOTOS",operation="put",outcome="refused"} 1',
    ]);
    const unknown = { event: "unknown outcome", name: "put", key: "k", milliseconds: 30 };
    expect(events).toEqual([
      { ...unknown, message: "gave no answer" },
      { ...unknown, message: "may have been stored" },
    ]);
  });

  it("counts requests, durations and conflicts", async () => {
    const { metrics, events, lines } = recorded();
    const gone = metrics.transport(() => Promise.reject(new TransportError("lost", "reset")));
    await expect(gone(message)).rejects.toThrow("reset");
    await metrics.transport(() => Promise.resolve(answer(200)))(message);
    await metrics.transport(() => {
      expect(metrics.requestsInFlight).toBe(1);
      return Promise.resolve(answer(412));
    })(message);
    expect(lines()).toEqual(
      expect.arrayContaining([
        'ledge_store_requests_total{binding="PHOTOS",request="PutObject",status="none"} 1',
        'ledge_store_requests_total{binding="PHOTOS",request="PutObject",status="412"} 1',
        'ledge_store_conflicts_total{binding="PHOTOS",request="PutObject"} 1',
        'ledge_store_requests_in_flight{binding="PHOTOS"} 0',
        'ledge_store_request_duration_seconds_bucket{binding="PHOTOS",request="PutObject",le="0.025"} 0',
        'ledge_store_request_duration_seconds_bucket{binding="PHOTOS",request="PutObject",le="0.05"} 3',
        'ledge_store_request_duration_seconds_bucket{binding="PHOTOS",request="PutObject",le="+Inf"} 3',
        'ledge_store_request_duration_seconds_sum{binding="PHOTOS",request="PutObject"} 0.09',
        "# EOF",
      ]),
    );
    const fields = { name: "PutObject", key: "a b/c", milliseconds: 30 };
    expect(events).toEqual([
      { event: "request", ...fields, status: null, requestId: undefined },
      { event: "request", ...fields, status: 200, requestId: "tx1" },
      { event: "request", ...fields, status: 412, requestId: "tx1" },
      { event: "conflict", ...fields, status: 412, requestId: "tx1" },
    ]);
  });
});

it.each([
  ["HEAD", "a", "", "HeadObject"],
  ["GET", "a", "", "GetObject"],
  ["GET", "a", "uploadId=1", "ListParts"],
  ["GET", undefined, "list-type=2&prefix=uploads", "ListObjectsV2"],
  ["GET", undefined, "uploads=", "ListMultipartUploads"],
  ["PUT", "a", "", "PutObject"],
  ["PUT", "a", "partNumber=1&uploadId=1", "UploadPart"],
  ["POST", "a", "uploads=", "CreateMultipartUpload"],
  ["POST", "a", "uploadId=1", "CompleteMultipartUpload"],
  ["POST", undefined, "delete=", "DeleteObjects"],
  ["DELETE", "a", "", "DeleteObject"],
  ["DELETE", "a", "uploadId=1", "AbortMultipartUpload"],
] as const)("requestName() of %s %s?%s is %s", (method, key, query, name) => {
  expect(requestName(method, key !== undefined, new URLSearchParams(query))).toBe(name);
});
