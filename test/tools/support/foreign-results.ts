/** Results of a foreign suite: how its configuration is changed, and how two runs are compared. */
import { relative } from "node:path";

export interface SuiteResults {
  /** By file and full name; a name that occurs again has a number. The run itself is a test too. */
  readonly statuses: ReadonlyMap<string, { readonly status: string; readonly message: string }>;
  readonly passed: number;
  readonly failed: number;
  readonly seconds: number;
}

export interface Difference {
  readonly test: string;
  readonly stock: string;
  readonly ours: string;
  /** Of the run that failed. */
  readonly message: string;
}

/** Imports of one pool become imports of the other. */
export function withPool(text: string, pool: string): string {
  return text.replaceAll(/@cloudflare\/vitest-(?:plugin|pool-workers)(?=["'/])/g, pool);
}

/**
 * Ledge's plugin gets the options of the pool's plugin.
 *
 * @returns `null` for a configuration without the pool
 */
export function withLedge(text: string): string | null {
  const pattern = /import \{([^}]*)\bcloudflareTest\b,?([^}]*)\} from ("@cloudflare\/[\w-]+");/;
  if (!pattern.test(text)) return null;
  return text.replace(
    pattern,
    'import {$1$2} from $3;\nimport { ledge as cloudflareTest } from "ledge/vitest";',
  );
}

interface Report {
  readonly testResults: readonly {
    readonly name: string;
    readonly message: string;
    readonly status: string;
    readonly assertionResults: readonly {
      readonly fullName: string;
      readonly status: string;
      readonly failureMessages: readonly string[];
    }[];
  }[];
}

/**
 * @param json the report, or `null` if vitest has written none
 * @param error what the run printed, if its exit code was not 0
 */
export function readResults(
  json: string | null,
  folder: string,
  error: string | null,
  seconds: number,
): SuiteResults {
  const statuses = new Map<string, { status: string; message: string }>();
  const report = json === null ? { testResults: [] } : (JSON.parse(json) as Report);
  for (const file of report.testResults) {
    const path = relative(folder, file.name);
    for (const { fullName, status, failureMessages } of file.assertionResults) {
      let name = `${path} > ${fullName}`;
      for (let nth = 2; statuses.has(name); nth++) name = `${path} > ${fullName} (${nth})`;
      statuses.set(name, { status, message: failureMessages.join("\n") });
    }
    if (file.status === "failed" && file.assertionResults.length === 0) {
      statuses.set(path, { status: "failed", message: file.message });
    }
  }
  const all = [...statuses.values()];
  const passed = all.filter(({ status }) => status === "passed").length;
  const failed = all.filter(({ status }) => status === "failed").length;
  // Errors outside of tests fail a run whose tests pass.
  if (error !== null && failed === 0) {
    statuses.set("the run", { status: "failed", message: error });
    return { statuses, passed, failed: 1, seconds };
  }
  return { statuses, passed, failed, seconds };
}

/** What the pool's run has, and what only ours has. */
export function compareResults(stock: SuiteResults, ours: SuiteResults): Difference[] {
  const names = new Set([...stock.statuses.keys(), ...ours.statuses.keys()]);
  return [...names].flatMap((test) => {
    const before = stock.statuses.get(test);
    const after = ours.statuses.get(test);
    if (before?.status === after?.status) return [];
    const message = (after?.status === "failed" ? after : before)?.message ?? "";
    return [
      { test, stock: before?.status ?? "missing", ours: after?.status ?? "missing", message },
    ];
  });
}
