import { reset } from "cloudflare:test";
import { afterEach, beforeEach } from "vitest";
import { seed, writeToAll } from "./seeded-tests.ts";

beforeEach(seed);
afterEach(() => reset());
writeToAll();
