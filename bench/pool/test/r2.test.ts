import { reset } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach } from "vitest";
import { putAndRead } from "./put-and-read.ts";

afterEach(() => reset());
putAndRead((env as never)["R2"]);
