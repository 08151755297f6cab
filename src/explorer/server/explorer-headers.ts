/** The headers of the explorer's requests to the record API. */
import { clientHeader } from "../../dns/rules/api-call.ts";

export function explorerHeaders({
  email,
  key,
}: {
  readonly email: string;
  readonly key: string;
}): Record<string, string> {
  return { "x-auth-email": email, "x-auth-key": key, [clientHeader]: "explorer" };
}
