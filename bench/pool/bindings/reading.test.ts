import { beforeAll } from "vitest";
import { readFromAll, seed } from "./seeded-tests.ts";

beforeAll(seed);
readFromAll();
