/** The files for systemd, containers and load balancers, checked as far as this machine can. */
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { haproxyConfig } from "../cluster/haproxy.ts";

const read = (path: string) => readFileSync(join(import.meta.dirname, "..", path), "utf8");

function temporaryFile(name: string, content: string): string {
  const folder = mkdtempSync(join(tmpdir(), "ledge-cluster-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  writeFileSync(join(folder, name), content);
  return join(folder, name);
}

/** A unit whose programs exist, as systemd requires. */
function present(unit: string): string {
  return unit.replaceAll(/\/usr\/(?:local\/)?bin\/\w+/g, process.execPath);
}

/** @returns what the program says about a file; `null` on a machine without the program */
function verdict(program: string, ...words: string[]): { code: number; output: string } | null {
  const { error, status, stdout, stderr } = spawnSync(program, words, { encoding: "utf8" });
  return error === undefined ? { code: status ?? -1, output: stdout + stderr } : null;
}

describe("ledge-edge@.service", () => {
  const unit = read("systemd/ledge-edge@.service");
  const objects = read("systemd/objects.conf");

  it.each([
    ["alone", {}],
    ["with Durable Objects", { "ledge-edge@.service.d": objects }],
  ])("is a unit in the opinion of systemd, %s", (_, additions) => {
    const file = temporaryFile("ledge-edge@.service", present(unit));
    for (const [folder, text] of Object.entries(additions)) {
      mkdirSync(join(dirname(file), folder));
      writeFileSync(join(dirname(file), folder, "objects.conf"), present(text));
    }
    expect([null, { code: 0, output: "" }]).toContainEqual(
      verdict("systemd-analyze", "verify", "--man=no", file),
    );
  });

  it("has sections and assignments only, each setting once", () => {
    const lines = unit.split("\n").filter((line) => line !== "" && !line.startsWith("#"));
    const settings = lines.filter((line) => !/^\[(?:Unit|Service|Install)\]$/.test(line));
    expect(settings.filter((line) => !/^[A-Z][A-Za-z]+=/.test(line))).toEqual([]);
    const names = settings.map((line) => line.split("=")[0]);
    expect(names).toEqual([...new Set(names)]);
  });

  it("has no keys, and takes them from a file", () => {
    expect(unit).toContain("EnvironmentFile=/etc/ledge-edge.env");
    expect(read("systemd/ledge-edge.env")).toMatch(/^LEDGE_REMOTE_CLUSTER_SECRET_ACCESS_KEY=$/m);
  });
});

describe("Containerfile", () => {
  it("has the instructions of a container file, and a user that is not root", () => {
    const text = read("Containerfile")
      .replaceAll(/^#.*\n/gm, "")
      .replaceAll("\\\n", "");
    const instructions = text.split("\n").filter((line) => line !== "");
    const known = /^(?:FROM|ARG|RUN|COPY|USER|WORKDIR|EXPOSE|STOPSIGNAL|HEALTHCHECK|ENTRYPOINT) \S/;
    expect(instructions.filter((line) => !known.test(line))).toEqual([]);
    const last = instructions.slice(instructions.findLastIndex((line) => line.startsWith("FROM")));
    expect(last.find((line) => line.startsWith("USER"))).toBe("USER 65532:65532");
    const entry = last.find((line) => line.startsWith("ENTRYPOINT"))?.slice("ENTRYPOINT".length);
    expect(JSON.parse(entry as string)[3]).toContain("exec workerd serve workerd.capnp ");
  });
});

describe("haproxy.cfg", () => {
  it("gets the addresses of the runtimes", () => {
    const text = haproxyConfig(["http://10.1.0.1:80", "http://10.1.0.2:81"], 9000);
    expect(text).toContain("bind 127.0.0.1:9000\n");
    expect(text).toContain("    server edge-1 10.1.0.1:80\n    server edge-2 10.1.0.2:81\n");
    const file = temporaryFile("haproxy.cfg", text);
    expect([undefined, 0]).toContain(verdict("haproxy", "-c", "-q", "-f", file)?.code);
  });
});
