import { readFileSync } from "node:fs";

/** Of Linux on every machine of today: the unit in which it counts processor time. */
const TICKS_PER_SECOND = 100;

/** What a process and those of its threads that are alive have used; `null` where nobody counts. */
export function processorSeconds(processId: number): number | null {
  try {
    const text = readFileSync(`/proc/${processId}/stat`, "utf8");
    // The name of the program, in parentheses, may hold anything.
    const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
    return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND;
  } catch {
    return null;
  }
}
