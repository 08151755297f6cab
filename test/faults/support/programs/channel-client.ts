/**
 * A client of a store's owner that ends by itself: the process closes nothing, and an idle channel
 * does not keep the process alive. While it waits for an answer, the process does not end.
 */
import { OwnerConnection } from "../../../../src/store/node/owner-connection.ts";
import { OperationQueue } from "../../../../src/store/node/local-bucket.ts";

const connection = new OwnerConnection(process.argv[2] as string, { succeeds: false });
const queue = new OperationQueue(connection, "photos");
let found = 0;
for (let call = 0; call < 20; call++) {
  const outcome = await queue.execute<"head">({ method: "head", key: "key" });
  if (outcome.ok && outcome.value !== null) found++;
}
console.log(`found ${found}`);
