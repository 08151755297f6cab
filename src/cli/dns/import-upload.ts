/** Sends the records of an import to the record API. */
import { counted } from "../../base/format.ts";
import { UserError } from "../../base/user-error.ts";
import { ApiError, type ApiClient } from "../../dns/client/api-client.ts";
import { partsOf, type ImportPart, type ImportPlan } from "./import-plan.ts";
import { Progress } from "../../base/progress.ts";

/** The API's limit for one file. */
export const fileBytesMax = 262_144;
const partMax = { bytes: fileBytesMax, records: 2000 };
/** The API's code for an invalid name. The configuration can allow more names. */
const nameInvalidCode = 9000;

interface UploadResult {
  readonly added: number;
  readonly parsed: number;
  /** What the API changed. */
  readonly remarks: readonly string[];
}

/** Sends a zone file as it is: the API adds all records or none. */
export async function uploadFile(
  api: ApiClient,
  zoneId: string,
  text: string,
  proxied: boolean,
): Promise<UploadResult> {
  try {
    const result = await api.importFile(zoneId, text, { proxied });
    const { recs_added: added, total_records_parsed: parsed, remarks } = result;
    return { added, parsed, remarks };
  } catch (error) {
    throw explain(error, (message) => message);
  }
}

/** Sends a plan in parts. If the API refuses a part, the records of earlier parts stay. */
export async function uploadPlan(
  api: ApiClient,
  zoneId: string,
  { records }: ImportPlan,
): Promise<UploadResult> {
  const progress = new Progress();
  let [added, parsed] = [0, 0];
  try {
    for (const part of partsOf(records, partMax)) {
      progress.show(`Adding ${parsed} of ${counted(records.length, "record")}`);
      try {
        const result = await api.importFile(zoneId, part.text, { proxied: false });
        added += result.recs_added;
        parsed += part.places.length;
      } catch (error) {
        const refused = explain(error, (message) => placeProblem(message, part));
        if (added === 0 || !(refused instanceof UserError)) throw refused;
        throw new UserError(
          `${refused.message}\nAdded ${counted(added, "record")} before this error: correct the record, ` +
            "and run the command again for the rest.",
          { cause: error },
        );
      }
    }
    // The plan has the nearest TTLs already, and tells so.
    return { added, parsed, remarks: [] };
  } finally {
    progress.end();
  }
}

function explain(error: unknown, place: (message: string) => string): unknown {
  if (!(error instanceof ApiError)) return error;
  const lines = error.problems.map(({ message, code }) => `${place(message)} (${code})`);
  if (error.problems.some(({ code }) => code === nameInvalidCode)) {
    lines.push('name_rules = "dns" in [dns] allows every name that DNS can carry.');
  }
  return new UserError(lines.join("\n"), { cause: error });
}

/** Replaces `Line 3: …`, which counts in the part, with the place of the record in the source. */
export function placeProblem(message: string, { places }: ImportPart): string {
  return message.replace(/^Line (\d+)(?=: )/, (line, number: string) => {
    return places[Number(number) - 1] ?? line;
  });
}
