/**
 * minio-go, the library below the MinIO client, rclone's and restic's copies of it, and much else in Go. It
 * has more forms of a body than these programs use: trailers that are signed, that are not, and parts with
 * checksums. `minio-go/main.go` compares the bytes.
 */
import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { cache, didNotRun } from "./client-programs.ts";
import { useServedProject } from "./served-project.ts";

/** Where Debian's package has the source. */
const goPath = "/usr/share/gocode";
const installed =
  existsSync("/usr/bin/go") && existsSync(`${goPath}/src/github.com/minio/minio-go/v7`);

const project = useServedProject();

function build(): string {
  const program = project.path("minio-go");
  const source = fileURLToPath(new URL("minio-go/main.go", import.meta.url));
  // A second build takes a second with the cache of the first.
  const env = {
    ...process.env,
    GO111MODULE: "off",
    GOPATH: goPath,
    GOCACHE: join(cache, "go"),
  };
  execFileSync("/usr/bin/go", ["build", "-o", program, source], { env });
  return program;
}

it("minio-go gets the bytes that it has put, in each form of a body", async (context) => {
  if (!installed) didNotRun(context, "test/peers/install.sh installs Go and minio-go.");
  const program = { version: "", path: build(), environment: {} };
  const printed = await project.run(program, project.url, "minio-go");
  const lines = printed.trimEnd().split("\n");
  expect(lines.filter((line) => !line.endsWith(": ok"))).toEqual([]);
  // 27 forms and sizes with trailing headers, and as many without.
  expect(lines).toHaveLength(2 * 27 + 8);
});
