/** Fails with one sentence on an old Node. The first import of every entry that a program imports. */
import { nodeVersionProblem } from "./node-version.ts";

const problem = nodeVersionProblem(process.versions.node);
if (problem !== null) throw new Error(problem);
