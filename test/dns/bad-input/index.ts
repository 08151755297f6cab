import { cases, type BadInput } from "./case.ts";
import "./content.ts";
import "./structured.ts";
import "./zone.ts";
import "./protocol.ts";

export const badInputs: readonly BadInput[] = cases;
export type { BadInput };
