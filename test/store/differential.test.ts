/** The binding on disk against Miniflare's R2. */
import { expectations } from "./differential.expectations.ts";
import { differentialSuite } from "./model/differential-suite.ts";
import { Runtime } from "./model/runtime.ts";

differentialSuite({
  name: "",
  start: () => Runtime.start(),
  runs: { few: 8, all: 40 },
  expectations,
});
