import { describe, expect, it } from "vitest";
import { TaskLayers, type Task } from "./task-layers.ts";

/** Layers that only write down what is done to them. */
function noted() {
  const notes: string[] = [];
  let last = 0;
  const tasks = new TaskLayers({
    async open() {
      notes.push(`open ${++last}`);
      return last;
    },
    async close(layer) {
      notes.push(`close ${layer}`);
    },
    async replace(layer) {
      notes.push(`close ${layer}, open ${++last}`);
      return last;
    },
  });
  return { notes, tasks };
}

const file: Task = {};
const inFile = (task: Omit<Task, "file"> = {}): Task => ({ ...task, file });

describe("TaskLayers", () => {
  it("lays a test above its block, and the block above its file", async () => {
    const { notes, tasks } = noted();
    const block = inFile();
    const test = inFile({ suite: block });
    await tasks.begin(file);
    await tasks.begin(block);
    await tasks.begin(test);
    expect(tasks.current).toBe(3);
    await tasks.end(test);
    await tasks.end(block);
    await tasks.end(file);
    expect(notes).toEqual([
      "open 1",
      "open 2",
      "open 3",
      "close 3, open 4",
      "close 2, open 5",
      "close 1",
    ]);
  });

  it("opens the layer of the next test in the step that closes the one before", async () => {
    const { notes, tasks } = noted();
    const [one, two] = [inFile(), inFile()];
    await tasks.begin(file);
    await tasks.begin(one);
    await tasks.end(one);
    expect(tasks.current).toBe(1);
    await tasks.begin(two);
    expect(tasks.current).toBe(3);
    await tasks.end(two);
    await tasks.endAll();
    expect(notes).toEqual(["open 1", "open 2", "close 2, open 3", "close 3, open 4", "close 1"]);
  });

  it("does not use a spare layer that something has begun above in the meantime", async () => {
    const { notes, tasks } = noted();
    const [one, two, three] = [inFile(), inFile(), inFile()];
    await tasks.begin(file);
    await tasks.begin(one);
    const ended = tasks.end(one);
    await tasks.begin(two);
    await ended;
    await tasks.end(two);
    await tasks.begin(three);
    expect(notes).toEqual(["open 1", "open 2", "close 2, open 3", "open 4", "close 4, open 5"]);
    expect(tasks.current).toBe(5);
  });

  it("closes what has not ended, when something begins beside it", async () => {
    const { notes, tasks } = noted();
    const block = inFile();
    await tasks.begin(file);
    await tasks.begin(block);
    await tasks.begin(inFile({ suite: block }));
    await tasks.begin(inFile());
    expect(notes).toEqual(["open 1", "open 2", "open 3", "close 2", "open 4"]);
    expect(tasks.current).toBe(4);
  });

  it("opens nothing twice for a file that is loaded and then run", async () => {
    const { notes, tasks } = noted();
    await tasks.begin(file);
    await tasks.begin(file);
    expect(notes).toEqual(["open 1"]);
  });

  it("gives a test that is tried again a layer of its own", async () => {
    const { notes, tasks } = noted();
    const test = inFile();
    await tasks.begin(file);
    await tasks.begin(test);
    await tasks.again(test);
    await tasks.end(test);
    expect(notes).toEqual(["open 1", "open 2", "close 2, open 3", "close 3, open 4"]);
  });

  it("gives tests that run at the same time one layer, until the last has ended", async () => {
    const { notes, tasks } = noted();
    const one = inFile({ concurrent: true });
    const two = inFile({ concurrent: true });
    await tasks.begin(file);
    await Promise.all([tasks.begin(one), tasks.begin(two)]);
    await tasks.end(one);
    expect(notes).toEqual(["open 1", "open 2"]);
    await tasks.end(two);
    expect(notes).toEqual(["open 1", "open 2", "close 2, open 3"]);
  });

  it("lays nothing above a block that runs at the same time as others", async () => {
    const { notes, tasks } = noted();
    const block = inFile({ concurrent: true });
    const test = inFile({ suite: block });
    await tasks.begin(file);
    await tasks.begin(block);
    await tasks.begin(test);
    await tasks.end(test);
    await tasks.end(block);
    expect(notes).toEqual(["open 1", "open 2", "close 2, open 3"]);
  });
});
