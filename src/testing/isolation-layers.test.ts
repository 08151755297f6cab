import { beforeEach, expect, it } from "vitest";
import { IsolationLayers } from "./isolation-layers.ts";

let steps: string[] = [];
let layers: IsolationLayers;

/** A part that records its calls. */
const part = (name: string) => ({
  async openLayer(layer: number, snapshot = false) {
    steps.push(`${name}: open ${layer}${snapshot ? " for a snapshot" : ""}`);
  },
  async closeLayer(layer: number, next?: number) {
    steps.push(`${name}: close ${layer}${next === undefined ? "" : `, open ${next}`}`);
  },
});

const state = async (step: string, others: Promise<unknown>) => {
  await others;
  steps.push(`state: ${step}`);
};

/** The steps since the last call. */
const taken = (): string[] => steps.splice(0);

beforeEach(() => {
  steps = [];
  layers = new IsolationLayers({ store: part("store"), state } as never);
  layers.isolate(["store"], true);
});

/** Opens the layer of a file, and forgets the steps. */
async function openFile(): Promise<number> {
  const file = await layers.open();
  expect(taken()).toEqual(["store: open 1", "state: open?layer=1"]);
  return file;
}

it("a layer without writes costs no step", async () => {
  await openFile();
  for (let test = 0; test < 3; test++) await layers.close(await layers.open());
  const suite = await layers.open();
  await layers.close(await layers.open());
  await layers.close(suite);
  expect(taken()).toEqual([]);
});

it("a write is undone in the part that it was made to, and nowhere else", async () => {
  await openFile();
  const test = await layers.open();
  layers.touch("store");
  await layers.close(test);
  const [step] = taken();
  expect(step).toMatch(/^store: close 1, open \d+$/);
  await layers.close(await layers.open());
  expect(taken()).toEqual([]);
});

it("a test after a block that has written has a layer of its own, and the block keeps its writes", async () => {
  await openFile();
  const suite = await layers.open();
  layers.touch("state");
  const one = await layers.open();
  expect(taken()).toEqual([`state: open?layer=${one}`]);
  layers.touch("state");
  await layers.close(one);
  expect(taken()).toEqual([expect.stringMatching(`^state: close\\?layer=${one}&next=`)]);
  const two = await layers.open();
  await layers.close(two);
  expect(taken()).toEqual([]);
  await layers.close(suite);
  expect(taken()).toEqual([expect.stringMatching(/^state: close\?layer=1&next=/)]);
});

it("a write of an outer block after its tests is undone with the block", async () => {
  const file = await openFile();
  const suite = await layers.open();
  const test = await layers.open();
  layers.touch("store");
  await layers.close(test);
  taken();
  layers.touch("store");
  await layers.close(suite);
  expect(taken()).toHaveLength(1);
  await layers.close(file);
  expect(taken()).toEqual([
    expect.stringMatching(/^store: close \d+$/),
    expect.stringMatching(/^state: close\?layer=1$/),
  ]);
});

it("all parts are touched by a write of which nothing is known", async () => {
  await openFile();
  const test = await layers.open();
  layers.touch();
  await layers.close(test);
  expect(taken()).toHaveLength(2);
});

it("without announced writes, each layer is opened and closed", async () => {
  layers.isolate(["store"], false);
  await openFile();
  const test = await layers.open();
  expect(taken()).toHaveLength(2);
  await layers.close(test);
  expect(taken()).toHaveLength(2);
});

it("a snapshot is restored after writes, again and again, and removed with its test", async () => {
  await openFile();
  const test = await layers.open();
  const snapshot = await layers.open({ snapshot: true });
  expect(taken()).toEqual([
    `store: open ${snapshot} for a snapshot`,
    `state: open?layer=${snapshot}`,
  ]);
  await layers.restore(snapshot);
  expect(taken()).toEqual([]);
  for (let time = 0; time < 2; time++) {
    layers.touch("store");
    await layers.restore(snapshot);
    expect(taken()).toEqual([`store: close ${snapshot}`, `store: open ${snapshot} for a snapshot`]);
  }
  await layers.close(test);
  expect(taken()).toHaveLength(2);
  await layers.close(await layers.open());
  expect(taken()).toEqual([]);
});

it("a test inside a block with a snapshot has a layer of its own, for its faults", async () => {
  await openFile();
  await layers.open({ snapshot: true });
  taken();
  const test = await layers.open();
  expect(taken()).toEqual([`store: open ${test}`, `state: open?layer=${test}`]);
});

it("a call belongs to the layer of the part, and to the outermost while the part changes layers", async () => {
  const file = await openFile();
  const test = await layers.open();
  expect(layers.layerIn("store", test)).toBe(1);
  layers.touch("store");
  const closed = layers.close(test);
  expect(layers.layerIn("store", file)).toBe(0);
  await closed;
  expect(layers.layerIn("store", file)).toBeGreaterThan(test);
  expect(layers.layerIn("dns", file)).toBe(0);
});

it("a layer that is opened while another is closed waits for its end", async () => {
  await openFile();
  const test = await layers.open();
  layers.touch("state");
  void layers.close(test);
  await layers.open();
  expect(taken()).toHaveLength(1);
});
