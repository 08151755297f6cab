/** Ends the command with one sentence on an old Node. The first import of the command. */
import { nodeVersionProblem } from "../base/node-version.ts";

const problem = nodeVersionProblem(process.versions.node);
if (problem !== null) {
  console.error(problem);
  process.exit(1);
}
