/** The messages of the record API, with their codes. */
import { problemText } from "./dns-calls.ts";
import type { DnsProblem } from "../../api/zones-api.ts";

export function ProblemLines({
  problems,
  id,
}: {
  readonly problems: readonly DnsProblem[];
  readonly id?: string;
}) {
  return (
    <div class="field-problem" role="alert" {...(id !== undefined && { id })}>
      {problems.map((problem, index) => (
        <p key={index}>{problem.code === 0 ? problem.message : problemText(problem)}</p>
      ))}
    </div>
  );
}
