/**
 * Runs ceph/s3-tests against `ledge s3` and compares the results with `expectations.json`.
 *
 *     LEDGE_S3_TESTS=/path/to/s3-tests npx node test/peers/s3-tests/run.ts [-k PATTERN]
 *
 * The suite is not part of this repository; `test/peers/install.sh` installs what it needs. Without the variable, the suite is cloned from its public address.
 */
import { spawn, spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";
import { startS3 } from "../../../dist/index.js";
import { parseReport, unexpectedResults, type Expectations } from "./suite-results.ts";

const address = "https://github.com/ceph/s3-tests.git";
const here = fileURLToPath(new URL(".", import.meta.url));
const newerModules = join(here, "../../../node_modules/.cache/peers/usr/lib/python3/dist-packages");
const expectationsFile = join(here, "expectations.json");

/** @returns `null` if the suite cannot be had */
function findSuite(folder: string): string | null {
  const given = process.env["LEDGE_S3_TESTS"];
  if (given !== undefined) return given;
  const cloned = join(folder, "s3-tests");
  const { status } = spawnSync("git", ["clone", "--quiet", "--depth", "1", address, cloned], {
    stdio: ["ignore", "ignore", "inherit"],
    timeout: 60_000,
  });
  return status === 0 ? cloned : null;
}

interface SuiteServer {
  readonly port: number;
  readonly credentials: { readonly accessKeyId: string; readonly secretAccessKey: string };
}

/** The sections of other users have the same credentials: the tests that need other users are left out. */
function configurationFor({ port, credentials }: SuiteServer): string {
  const user = [
    `access_key = ${credentials.accessKeyId}`,
    `secret_key = ${credentials.secretAccessKey}`,
    "display_name = ledge\nuser_id = ledge\nemail = ledge@example.org\ntenant = ledge",
    "api_name = auto\nlc_debug_interval = 1",
  ].join("\n");
  const users = ["s3 main", "s3 alt", "s3 tenant", "iam", "iam root", "iam alt root"];
  return [
    `[DEFAULT]\nhost = localhost\nport = ${port}\nis_secure = False\nssl_verify = False`,
    "[fixtures]\nbucket prefix = suite-{random}-",
    ...users.map((name) => `[${name}]\n${user}`),
  ].join("\n\n");
}

async function runSuite(suite: string, folder: string, server: SuiteServer): Promise<string> {
  const report = join(folder, "report.xml");
  const configuration = join(folder, "s3tests.conf");
  writeFileSync(configuration, configurationFor(server));
  const files = ["test_s3.py", "test_headers.py"].map((name) => join("s3tests/functional", name));
  const options = ["-q", "--tb=no", "--no-header", "-p", "no:cacheprovider", "-p", "ledge_suite"];
  const words = [...options, "--timeout", "120", "--junitxml", report, ...process.argv.slice(2)];
  const child = spawn("/usr/bin/python3", ["-m", "pytest", ...words, ...files], {
    cwd: suite,
    stdio: ["ignore", "inherit", "inherit"],
    env: {
      ...process.env,
      S3TEST_CONF: configuration,
      LEDGE_S3_EXPECTATIONS: expectationsFile,
      PYTHONPATH: [newerModules, here, suite].join(delimiter),
      PYTHONDONTWRITEBYTECODE: "1",
      // A repeated request would hide an answer.
      AWS_MAX_ATTEMPTS: "1",
    },
  });
  await new Promise((resolve) => child.once("close", resolve));
  if (!existsSync(report))
    throw new Error("pytest wrote no report. test/peers/install.sh installs it.");
  return readFileSync(report, "utf8");
}

const folder = mkdtempSync(join(tmpdir(), "ledge-s3-suite-"));
try {
  const suite = findSuite(folder);
  if (suite === null) {
    process.stderr.write(
      `ceph/s3-tests did not run: ${address} cannot be reached.\n` +
        "Set LEDGE_S3_TESTS to a folder with a clone of the suite.\n",
    );
  } else {
    const server = await startS3({ stateFolder: folder, port: 0 });
    try {
      const results = parseReport(await runSuite(suite, folder, server));
      const expectations = JSON.parse(readFileSync(expectationsFile, "utf8")) as Expectations;
      const unexpected = unexpectedResults(results, expectations);
      const { passed, failed, skipped } = results;
      for (const line of unexpected) process.stdout.write(`${line}\n`);
      process.stdout.write(
        `${passed.length} passed, ${failed.length} failed, ${skipped.length} skipped by the suite, ` +
          `${unexpected.length} not as expected.\n`,
      );
      if (unexpected.length > 0) process.exitCode = 1;
    } finally {
      await server.close();
    }
  }
} finally {
  rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
}
