/**
 * Tests of the suite that fail on a subject, by design. Such a test is inverted rather than left out: the run fails
 * when the test succeeds, and when a deviation names no test of the suite.
 */
import { beforeAll } from "vitest";

/** The reason, by the name of the test with the names of its blocks: `expiry > objects do not expire`. */
export type Deviations = Readonly<Record<string, string>>;

interface Task {
  readonly type: string;
  readonly name: string;
  fails?: boolean;
  readonly tasks?: readonly Task[];
}

/** Call in the block that has the suite, before the suite. */
export function expectDeviations(deviations: Deviations): void {
  // oxlint-disable-next-line no-empty-pattern -- vitest requires a pattern for the first argument
  beforeAll(({}, block) => {
    const left = new Set(Object.keys(deviations));
    const visit = (tasks: readonly Task[], path: string): void => {
      for (const task of tasks) {
        const name = path === "" ? task.name : `${path} > ${task.name}`;
        if (task.tasks !== undefined) visit(task.tasks, name);
        else if (left.delete(name)) task.fails = true;
      }
    };
    visit((block as unknown as Task).tasks ?? [], "");
    if (left.size > 0) throw new Error(`The suite has no test ${[...left].join(", ")}`);
  });
}
