import type { Message } from "./message.ts";

/** A query about nothing yet. */
export const blankMessage: Message = {
  id: 0,
  response: false,
  opcode: 0,
  authoritative: false,
  truncated: false,
  recursionDesired: false,
  recursionAvailable: false,
  authenticData: false,
  checkingDisabled: false,
  rcode: 0,
  questions: [],
  answers: [],
  authorities: [],
  additionals: [],
  edns: null,
  tsig: null,
};
