/** The command line of the store's benchmark. */
import { parseArgs } from "node:util";

export const help = `Compares Ledge's StoreBucket with Miniflare's R2 and the floor, in one run.

    npm run bench -- store [options]

  --quick         a representative part, in about a minute; a whole run takes up to ten
  --only <text>   only measurements with <text> in their name, in any case; can be repeated
  --list          print the names of the measurements and exit
  --help          print this text and exit

Times are medians for one operation. bench/README.md describes the method.

  ours      StoreBucket, in workerd
  R2        Miniflare's R2 binding, in the same process of workerd
  floor     SQLite in the benchmark's process with the same schema and hash, and plain files;
            for "a request each" an empty request, for start-up a Miniflare without storage
  R2/ours   how many times faster ours is; ✓ and ✗ mark whether it reaches the target

A whole run also writes bench/results.json and bench/results.svg.
`;

export interface Options {
  readonly quick: boolean;
  readonly only: readonly string[];
  readonly list: boolean;
  readonly help: boolean;
}

export function parseOptions(args: string[]): Options {
  const { values } = parseArgs({
    args,
    options: {
      quick: { type: "boolean", default: false },
      only: { type: "string", multiple: true, default: [] },
      list: { type: "boolean", default: false },
      help: { type: "boolean", short: "h", default: false },
    },
  });
  return { ...values, only: values.only.map((text) => text.toLowerCase()) };
}
