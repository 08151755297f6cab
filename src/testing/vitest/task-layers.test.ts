import { describe, expect, it } from "vitest";
import { TaskLayers, type Task } from "./task-layers.ts";

/** A `TaskLayers` on a stack of layers that records its calls. */
function recorded() {
  const steps: string[] = [];
  let last = 0;
  const tasks = new TaskLayers({
    async open() {
      steps.push(`open ${++last}`);
      return last;
    },
    async close(layer) {
      steps.push(`close ${layer}`);
    },
  });
  return { steps, tasks };
}

const file: Task = {};
const inFile = (task: Omit<Task, "file"> = {}): Task => ({ ...task, file });

/** A file with these tasks. */
function fileOf(...tasks: Omit<Task, "file">[]): Task & { tasks: Task[] } {
  const parent: Task & { tasks: Task[] } = { tasks: [] };
  parent.tasks.push(...tasks.map((task) => ({ ...task, file: parent })));
  return parent;
}

describe("TaskLayers", () => {
  it("opens the layer of a test above its suite, and of the suite above its file", async () => {
    const { steps, tasks } = recorded();
    const suite = inFile();
    const test = inFile({ suite });
    await tasks.begin(file);
    await tasks.begin(suite);
    await tasks.begin(test);
    expect(tasks.current).toBe(3);
    await tasks.end(test);
    await tasks.end(suite);
    await tasks.end(file);
    expect(steps).toEqual(["open 1", "open 2", "open 3", "close 3", "close 2", "close 1"]);
  });

  it("closes the layers of tasks that have not ended when the next task begins", async () => {
    const { steps, tasks } = recorded();
    const suite = inFile();
    await tasks.begin(file);
    await tasks.begin(suite);
    await tasks.begin(inFile({ suite }));
    await tasks.begin(inFile());
    expect(steps).toEqual(["open 1", "open 2", "open 3", "close 2", "open 4"]);
    expect(tasks.current).toBe(4);
  });

  it("opens a new layer for a test that is retried", async () => {
    const { steps, tasks } = recorded();
    const test = inFile();
    await tasks.begin(file);
    await tasks.begin(test);
    await tasks.begin(test);
    await tasks.end(test);
    expect([1, 2, 3, 4].map((layer) => tasks.tasksOf(layer))).toEqual([[file], [test], [test], []]);
    expect(steps).toEqual(["open 1", "open 2", "close 2", "open 3", "close 3"]);
  });

  it("opens one layer for concurrent tests, until the last of them ends", async () => {
    const { steps, tasks } = recorded();
    const parent = fileOf({ concurrent: true }, { concurrent: true });
    const [one, two] = parent.tasks as [Task, Task];
    await tasks.begin(parent);
    await Promise.all([tasks.begin(one), tasks.begin(two)]);
    await tasks.begin(two);
    await tasks.end(one);
    expect(steps).toEqual(["open 1", "open 2"]);
    await tasks.end(two);
    expect(tasks.tasksOf(2)).toEqual([one, two]);
    expect(steps).toEqual(["open 1", "open 2", "close 2"]);
  });

  it("opens no layer above a concurrent suite", async () => {
    const { steps, tasks } = recorded();
    const parent = fileOf({ concurrent: true }, { concurrent: true });
    const [suite] = parent.tasks as [Task];
    const test = { suite, file: parent };
    await tasks.begin(parent);
    await tasks.begin(suite);
    await tasks.begin(test);
    await tasks.end(test);
    await tasks.end(suite);
    expect(steps).toEqual(["open 1", "open 2", "close 2"]);
  });

  it("opens a layer for each test of a concurrent suite that runs alone", async () => {
    const { steps, tasks } = recorded();
    const parent = fileOf({}, { concurrent: true }, {});
    const suite = parent.tasks[1] as Task;
    const [one, two] = [
      { suite, file: parent },
      { suite, file: parent },
    ];
    await tasks.begin(parent);
    await tasks.begin(suite);
    for (const test of [one, two]) {
      await tasks.begin(test);
      await tasks.end(test);
    }
    expect(steps).toEqual(["open 1", "open 2", "open 3", "close 3", "open 4", "close 4"]);
  });

  it("opens another layer for a group after a group with a test that has no end", async () => {
    const { steps, tasks } = recorded();
    const [pair, alone] = [{ concurrent: true }, {}];
    const parent = fileOf(pair, pair, alone, pair, pair);
    const [one, two, three, four, five] = parent.tasks as [Task, Task, Task, Task, Task];
    await tasks.begin(parent);
    await Promise.all([tasks.begin(one), tasks.begin(two)]);
    await tasks.end(one);
    await tasks.begin(three);
    await tasks.end(three);
    await Promise.all([tasks.begin(four), tasks.begin(five)]);
    expect(steps).toEqual(["open 1", "open 2", "close 2", "open 3", "close 3", "open 4"]);
    expect(tasks.tasksOf(4)).toEqual([four, five]);
  });
});
