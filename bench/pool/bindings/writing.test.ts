import { beforeAll } from "vitest";
import { seed, writeToAll } from "./seeded-tests.ts";

beforeAll(seed);
writeToAll();
