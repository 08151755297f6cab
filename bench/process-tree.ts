/** A process and its descendants, as Linux shows them in /proc: their processor time and memory. */
import { readdirSync, readFileSync } from "node:fs";

/** USER_HZ of Linux, the unit of processor time in /proc. */
const ticksPerSecond = 100;

/** The time that a process and its descendants have used; `null` without /proc. */
export function processorSeconds(processId: number): number | null {
  const members = processTree(processId);
  if (members.length === 0) return null;
  return members.reduce((sum, { ticks }) => sum + ticks, 0) / ticksPerSecond;
}

/**
 * The memory of a process and its descendants; `null` without /proc. A page that several processes
 * share counts once, divided among them.
 */
export function memoryMebibytes(processId: number): number | null {
  const members = processTree(processId);
  if (members.length === 0) return null;
  return members.reduce((sum, { id }) => sum + proportionalKibibytes(id), 0) / 1024;
}

/** The resident set of each process of the tree, by its id. */
export function residentBytesByProcess(processId: number): Map<number, number> {
  return new Map(processTree(processId).map(({ id }) => [id, residentBytes(id)]));
}

interface Process {
  readonly id: number;
  readonly parent: number;
  readonly ticks: number;
}

function processTree(root: number): Process[] {
  const all = new Map(
    processIds().flatMap((id) => {
      const found = readStat(id);
      return found === null ? [] : [[id, found]];
    }),
  );
  const isWithin = (id: number | undefined): boolean =>
    id !== undefined && (id === root || isWithin(all.get(id)?.parent));
  return Array.from(all.values()).filter(({ id }) => isWithin(id));
}

function processIds(): number[] {
  try {
    return readdirSync("/proc").map(Number).filter(Number.isInteger);
  } catch {
    return [];
  }
}

function readStat(id: number): Process | null {
  try {
    const text = readFileSync(`/proc/${id}/stat`, "utf8");
    // The name of the program, in parentheses, may contain any character.
    const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
    return { id, parent: Number(fields[1]), ticks: Number(fields[11]) + Number(fields[12]) };
  } catch {
    return null;
  }
}

function proportionalKibibytes(id: number): number {
  try {
    const text = readFileSync(`/proc/${id}/smaps_rollup`, "utf8");
    return Number(/^Pss:\s+(\d+) kB$/m.exec(text)?.[1] ?? 0);
  } catch {
    return 0;
  }
}

function residentBytes(id: number): number {
  try {
    const text = readFileSync(`/proc/${id}/status`, "utf8");
    return Number(/^VmRSS:\s+(\d+) kB$/m.exec(text)?.[1] ?? 0) * 1024;
  } catch {
    return 0;
  }
}
