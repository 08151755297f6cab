import { createHmac } from "node:crypto";
import type { Hmac } from "../wire/tsig-mac.ts";

export const hmac: Hmac = (algorithm, secret, data) =>
  new Uint8Array(createHmac(algorithm.replace("hmac-", ""), secret).update(data).digest());
