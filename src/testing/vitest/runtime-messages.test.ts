import { expect, it } from "vitest";
import { hideMessagesOfIsolation } from "./runtime-messages.ts";

it("hides what the runtime says about objects that isolation has ended", () => {
  const printed: unknown[] = [];
  const stream = { write: (chunk: unknown) => printed.push(chunk) > 0 };
  hideMessagesOfIsolation(stream);
  const hidden = [
    "exception = workerd/api/unsafe.c++:217: failed: jsg.Error: Application called abortAllDurableObjects().\nstack: a b\n",
    "uncaught exception; source = Uncaught (in promise); stack = Error: Application called abortAllDurableObjects().\n",
    "NOSENTRY SQLite alarm handler canceled with requestScheduledAlarm.; scheduledTime = 1s\n",
  ];
  const shown = [
    "uncaught exception; source = Uncaught; stack = RangeError: refused\n",
    "Error: Application called abortAllDurableObjects().\n",
    new Uint8Array(1),
  ];
  for (const chunk of [...hidden, ...shown]) expect(stream.write(chunk)).toBe(true);
  expect(printed).toEqual(shown);
});
