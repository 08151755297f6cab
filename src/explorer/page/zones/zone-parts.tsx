/** What the views of zones share: calls of the record API, and a project without DNS. */
import type { DnsEnvelope, RecordTypes } from "../../api/zones-api.ts";
import { callApi, type ApiCallError, type CallOptions } from "../api-client.ts";
import { Empty, Problem } from "../frame/parts.tsx";

/**
 * @param segments the path of the record API
 * @throws ApiCallError, or the reason of an aborted signal
 */
export function callDns<Result>(
  segments: readonly string[],
  options: CallOptions = {},
): Promise<DnsEnvelope<Result>> {
  return callApi(dnsPath(segments), options);
}

export function dnsPath(segments: readonly string[]): string {
  return `/api/dns/${segments.map((segment) => encodeURIComponent(segment)).join("/")}`;
}

export function fetchRecordTypes(signal: AbortSignal): Promise<RecordTypes> {
  return callApi("/api/record-types", { signal });
}

/** A project without DNS: the server says so with 409. */
const noDnsStatus = 409;

export function DnsProblemState({
  problem,
  onRetry,
}: {
  readonly problem: ApiCallError;
  readonly onRetry: () => void;
}) {
  if (problem.status !== noDnsStatus) return <Problem problem={problem} onRetry={onRetry} />;
  return (
    <Empty title="This project has no DNS">
      <p>Add a table to the configuration, and start the command again:</p>
      <ZonesExample />
    </Empty>
  );
}

export function ZonesExample() {
  return <pre class="panel zones-example">{`[dns]\nzones = [{ name = "example.com" }]`}</pre>;
}
