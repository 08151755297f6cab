/** Reads JSON bodies by a schema. A body of another form is refused with the first mistake. */
import * as v from "valibot";
import { CallError, readJson, type ExplorerCall } from "./call.ts";

/** @throws CallError */
export async function readInput<Output>(
  call: ExplorerCall,
  schema: v.GenericSchema<unknown, Output>,
): Promise<Output> {
  const { success, output, issues } = v.safeParse(schema, await readJson(call));
  if (success) return output;
  const [{ path, message, input }] = issues;
  const place = path?.map(({ key }) => String(key)).join(".") ?? "";
  const subject = place === "" ? "The body of the request" : `"${place}" of the request`;
  const problem = input === undefined ? "is missing" : `is not valid: ${message}`;
  throw new CallError(400, `${subject} ${problem}.`);
}
