import {
  acceptRecord,
  type RecordRequest,
  type RecordRules,
} from "../../../src/dns/rules/accept-record.ts";
import { ZoneError } from "../../../src/dns/record/problem.ts";
import type { RecordDraft } from "../../../src/dns/record/zone-record.ts";

export const recordRules: RecordRules = {
  zoneName: "example.org",
  nameRules: "strict",
  platformAddresses: ["198.18.0.1"],
  commentCharactersMax: 100,
  tagsMax: 20,
};

export function acceptOrThrow(request: RecordRequest, rules = recordRules): RecordDraft {
  return acceptRecord(request, rules, (found) => {
    throw new ZoneError([found]);
  })!;
}
