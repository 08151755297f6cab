/** What a view of zones shows when there is no data. */
import type { ApiCallError } from "../api-client.ts";
import { Empty, Problem } from "../parts/states.tsx";

/** The project has no DNS: the server says so with 409. */
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
      <pre class="panel zones-example">{`[dns]\nzones = [{ name = "example.com" }]`}</pre>
    </Empty>
  );
}
