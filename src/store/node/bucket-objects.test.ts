import { expect, it } from "vitest";
import { StoreError } from "../core/errors.ts";
import { asUserError } from "./bucket-objects.ts";

async function reject(error: StoreError): Promise<never> {
  throw error;
}

it("asUserError() names the code, and the request of an S3 service", async () => {
  const failure = { outcome: "not executed", reason: "denied", requestId: "tx-1" } as const;
  const ofService = asUserError(reject(new StoreError(10001, "No.", { failure })));
  await expect(ofService).rejects.toThrow(/^No\. \(10001, request tx-1\)$/);
  const other = asUserError(reject(new StoreError(10001, "No.")));
  await expect(other).rejects.toThrow(/^No\. \(10001\)$/);
});
