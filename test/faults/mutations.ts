/**
 * Mutations of the code, of which each makes a suite fail: a suite that stays green with its
 * mutation proves nothing. `npm run test:long -- faults --mutations` applies them one after the other in
 * a copy of the project, and `test/docs/reliability.test.ts` compares them with docs/reliability.md.
 */
export interface Mutation {
  /** The test file of the suite, without `.test.ts`. */
  readonly suite: string;
  /** What the changed code does. */
  readonly effect: string;
  readonly file: string;
  /** Text that the file contains once. */
  readonly original: string;
  readonly replacement: string;
}

export const mutations: readonly Mutation[] = [
  {
    suite: "access",
    effect: "any `Host` is answered",
    file: "src/base/host-rule.ts",
    original: "if (host === null || !isServedHost(host, rule.hosts))",
    replacement: "if (host === null)",
  },
  {
    suite: "access-files",
    effect: "state is readable for other users",
    file: "src/base/programs.ts",
    original: "return `umask 077",
    replacement: "return `umask 000",
  },
  {
    suite: "backup",
    effect: "an older database counts as the database of its files",
    file: "src/store/core/content.ts",
    original: " || Number(mark.text) > generation;",
    replacement: ";",
  },
  {
    suite: "backup",
    effect: "files that a backup names are not kept by links",
    file: "src/store/node/backup.ts",
    original: "copyDurably(join(blobs, links.get(blob) as string), join(copies, blob))",
    replacement: "copyDurably(join(blobs, blob), join(copies, blob))",
  },
  {
    suite: "bad-input",
    effect: "nesting has no limit",
    file: "src/base/nesting.ts",
    original: "export const nestingLevelsMax = 100;",
    replacement: "export const nestingLevelsMax = 100_000_000;",
  },
  {
    suite: "bad-input-files",
    effect: "a manifest may name a file outside the folder",
    file: "src/cli/store/import.ts",
    original: 'throw new UserError("The manifest names a link that leads out of the folder.");',
    replacement: "return;",
  },
  {
    suite: "consistency",
    effect: "the condition of a put is not evaluated",
    file: "src/store/bucket/bucket.ts",
    original:
      "if (!conditionHolds(onlyIf, text === null ? null : decodeObject(key, text))) return null;",
    replacement: "void text;",
  },
  {
    suite: "crash",
    effect: "the runtime of a killed process is not ended",
    file: "src/base/programs.ts",
    original: 'read -r _ || kill -9 "$0"',
    replacement: "read -r _",
  },
  {
    suite: "damage",
    effect: "every hash of a value in the database is accepted",
    file: "src/store/bucket/contents.ts",
    original: "if (actual === expected) return;",
    replacement: "if (actual.length === expected.length) return;",
  },
  {
    suite: "damage",
    effect: "every hash of a file is accepted",
    file: "src/store/client/blob-directory.ts",
    original: "if (actualMd5 === md5) continue;",
    replacement: "if (actualMd5.length === md5.length) continue;",
  },
  {
    suite: "failing-io",
    effect: "a full disk does not use its reserve",
    file: "src/state/disk.ts",
    original: 'await this.#request("DELETE", reserveUrl);',
    replacement: "await Promise.resolve();",
  },
  {
    suite: "load",
    effect: "a bucket answers no call between the steps of an expiry",
    file: "src/store/bucket/bucket-object.ts",
    original: "await this.#remove(this.#bucket.expire());\n      await scheduler.wait(0);",
    replacement: "await this.#remove(this.#bucket.expire());",
  },
  {
    suite: "lost-answers",
    effect: "the outcome of a request is forgotten",
    file: "src/state/outcomes.ts",
    original: 'return parts.length === 0 ? null : parts.join("");',
    replacement: 'return parts.length >= 0 ? null : parts.join("");',
  },
  {
    suite: "ownership",
    effect: "two processes can have a lock",
    file: "src/state/lock.ts",
    original: "PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE",
    replacement: "PRAGMA journal_mode = MEMORY; BEGIN",
  },
  {
    suite: "ownership",
    effect: "a lock that cannot be opened counts as taken by this process",
    file: "src/state/lock.ts",
    original: "if ((error as { errcode?: number }).errcode === busyCode) return null;",
    replacement:
      "if ((error as { errcode?: number }).errcode === busyCode) return null;\n" +
      '      return new FileLock(new DatabaseSync(":memory:"));',
  },
  {
    suite: "power",
    effect: "a file is named before it is on the device",
    file: "src/store/node/durable-files.ts",
    original: "await syncData(descriptor);",
    replacement: "void syncData;",
  },
  {
    suite: "readers",
    effect: "a reader opens the first file of its object only",
    file: "src/store/bucket/content-joiner.ts",
    original: "if (start > 0 && handlesOpen + some.length > handlesMax) return;",
    replacement: "if (start >= 0) return;",
  },
  {
    suite: "three-processes",
    effect: "no client succeeds an owner that was killed",
    file: "src/state/succession.ts",
    original: 'const owner = await this.#options.take(() => handover.resolve("handover"));',
    replacement: "const owner = await Promise.resolve(null as FolderOwner | null);",
  },
];
