import { expect, it } from "vitest";
import { connectFault } from "./origin-connection.ts";

const systemError = (code: string): Error => Object.assign(new Error(code), { code });
const timeout = Object.assign(new Error("The operation was aborted"), { name: "AbortError" });

it.each([
  ["refused", systemError("ECONNREFUSED")],
  ["timeout", systemError("ETIMEDOUT")],
  ["timeout", timeout],
  ["unreachable", systemError("EHOSTUNREACH")],
  ["unreachable", systemError("ENETUNREACH")],
])("connectFault() is %s for %s", (fault, error) => {
  expect(connectFault(error)).toBe(fault);
});
