/** The binding, in workerd and on disk, against the in-memory model of `test/store/model`. */
import { propertySuite } from "./model/property-suite.ts";
import { Runtime } from "./model/runtime.ts";

propertySuite({
  name: "",
  start: () => Runtime.start(),
  runs: { few: 15, all: 100 },
  listedKeysMax: 1200,
  hasLargeMetadata: true,
  hasCoarseTimes: false,
  filesOf: (runtime) => runtime.blobFiles(),
});
