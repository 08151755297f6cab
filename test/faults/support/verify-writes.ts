/**
 * Checks the writes of writers after a crash, through a reader that has started since: every
 * acknowledged write is there with its bytes, or the one write after it that was not acknowledged;
 * each row has its file and each file its row; SQLite finds no damage.
 */
import type { Figures } from "./figures.ts";
import { callHttp, callScript } from "./http-call.ts";
import { readStoreState } from "./store-state.ts";
import { waitUntil } from "./wait.ts";
import { hashOf, type Value, type Writer } from "./writer.ts";

interface Listed {
  readonly key: string;
  readonly etag: string;
  readonly size: number;
}

export interface Verification extends Pick<Figures, "lost" | "wrong" | "orphans"> {
  /** A line for each problem. */
  readonly problems: string[];
}

const collectMilliseconds = 60_000;

/**
 * The unknown write of each key becomes known, and the writer's old keys are deleted. No writer may
 * be active.
 *
 * @param url of a script that runs `fault-script.ts`
 */
export async function verifyWrites(
  url: string,
  persistPath: string,
  writers: readonly Writer[],
): Promise<Verification> {
  const problems: string[] = [];
  const counts = { lost: 0, wrong: 0, orphans: 0 };
  const report = (kind: keyof typeof counts, problem: string): void => {
    counts[kind]++;
    problems.push(`${kind}: ${problem}`);
  };
  const listed = new Map((await list(url)).map((object) => [object.key, object]));
  const known = new Set(writers.flatMap(({ registers }) => [...registers.keys()]));
  for (const key of listed.keys()) {
    if (!known.has(key)) report("wrong", `${key} exists, but its writer deleted or never wrote it`);
  }

  for (const { registers } of writers) {
    for (const [key, register] of registers) {
      const { unknown } = register;
      const found = await read(url, key);
      if ((typeof found.value === "string") !== listed.has(key)) {
        report("wrong", `${key} is ${listed.has(key) ? "" : "not "}listed, but get says otherwise`);
      }
      if (found.error !== undefined) report("wrong", `${key} cannot be read: ${found.error}`);
      else if (found.value !== register.value && found.value !== unknown?.value) {
        const kind = found.value === null || register.hashes.has(found.value) ? "lost" : "wrong";
        report(kind, `${key} has ${describe(found.value)}, not ${describe(register.value)}`);
      }
      if (unknown !== undefined) {
        await forget(url, key);
        registers.delete(key);
      }
    }
  }
  const state = await collectedState(persistPath);
  for (const line of state.corrupt) report("wrong", line);
  for (const name of state.missing)
    report("wrong", `a row names the file ${name}, which is missing`);
  for (const name of state.orphans) report("orphans", `no row names the file ${name}`);
  return { ...counts, problems };
}

/** The owner collects garbage in the background after its start. */
async function collectedState(persistPath: string) {
  let state = readStoreState(persistPath);
  await waitUntil(
    () => {
      state = readStoreState(persistPath);
      return state.orphans.length === 0;
    },
    () => "",
    collectMilliseconds,
  ).catch(() => {});
  return state;
}

function describe(value: Value): string {
  return value === null ? "no object" : `bytes with the hash ${value.slice(0, 12)}`;
}

async function list(url: string): Promise<Listed[]> {
  return JSON.parse((await callScript(`${url}/?list`)).body.toString()) as Listed[];
}

async function read(url: string, key: string): Promise<{ value: Value; error?: string }> {
  const { status, body } = await callHttp(`${url}/${encodeURIComponent(key)}`);
  if (status === 404) return { value: null };
  return status === 200 ? { value: hashOf(body) } : { value: "", error: body.toString() };
}

async function forget(url: string, key: string): Promise<void> {
  await callScript(`${url}/${encodeURIComponent(key)}`, { method: "DELETE" });
}
