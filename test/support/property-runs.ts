/** The size of a test: all of it when LEDGE_ROUNDS is set, as in `npm run test:long -- numbers`. */
export function propertyRuns(runs: { readonly few: number; readonly all: number }): number {
  return process.env["LEDGE_ROUNDS"] === undefined ? runs.few : runs.all;
}
