import { readdirSync, readFileSync } from "node:fs";

/** USER_HZ of Linux, the unit of processor time in /proc. */
const ticksPerSecond = 100;

/** The time that a process and its descendants have used; `null` without /proc. */
export function processorSeconds(processId: number): number | null {
  const all = new Map(
    processes().flatMap((id) => {
      const found = readStat(id);
      return found === null ? [] : [[id, found]];
    }),
  );
  if (!all.has(processId)) return null;
  let ticks = 0;
  for (const [id, stat] of all) if (isWithin(id, processId, all)) ticks += stat.ticks;
  return ticks / ticksPerSecond;
}

interface Stat {
  readonly parent: number;
  readonly ticks: number;
}

function processes(): number[] {
  try {
    return readdirSync("/proc").map(Number).filter(Number.isInteger);
  } catch {
    return [];
  }
}

function readStat(processId: number): Stat | null {
  try {
    const text = readFileSync(`/proc/${processId}/stat`, "utf8");
    // The name of the program, in parentheses, may contain any character.
    const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
    return { parent: Number(fields[1]), ticks: Number(fields[11]) + Number(fields[12]) };
  } catch {
    return null;
  }
}

function isWithin(processId: number, ancestor: number, all: ReadonlyMap<number, Stat>): boolean {
  for (let id: number | undefined = processId; id !== undefined; id = all.get(id)?.parent) {
    if (id === ancestor) return true;
  }
  return false;
}
