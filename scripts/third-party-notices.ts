/**
 * A plugin of the bundlers that writes dist/THIRD-PARTY-NOTICES: the licences of the packages whose
 * code is in dist. A package that is bundled for its types only is left out.
 *
 * Several builds make dist, and some run at the same time. Each adds its packages to the file.
 */
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/** The part of Rolldown's plugins that is used here; tsdown and Vite have copies of their own. */
interface NoticesPlugin {
  readonly name: string;
  writeBundle(options: unknown, bundle: Readonly<Record<string, OutputFile>>): void;
}

interface OutputFile {
  readonly fileName: string;
  /** Of a chunk: its modules by their paths. */
  readonly modules?: Readonly<Record<string, { readonly renderedLength: number }>>;
}

const noticesFile = fileURLToPath(new URL("../dist/THIRD-PARTY-NOTICES", import.meta.url));
const introduction = "The files of this folder contain code of the packages below.\n";
const separator = `\n${"=".repeat(80)}\n\n`;
const licencePattern = /^(?:licen[cs]e|copying|notice)(?:[.-].*)?$/i;

export function thirdPartyNotices(): NoticesPlugin {
  return {
    name: "third-party-notices",
    writeBundle(_options, bundle) {
      const folders = Object.values(bundle)
        .filter(({ fileName }) => !fileName.endsWith(".d.ts"))
        .flatMap(({ modules = {} }) => Object.entries(modules))
        .flatMap(([path, { renderedLength }]) => (renderedLength > 0 ? packageFolder(path) : []));
      if (folders.length > 0) addNotices([...new Set(folders)].map(noticeOf));
    },
  };
}

function addNotices(notices: readonly string[]): void {
  const [, ...others] = readNotices().split(separator);
  const all = new Set([...others, ...notices]);
  writeFileSync(noticesFile, [introduction, ...[...all].toSorted()].join(separator));
}

function readNotices(): string {
  try {
    return readFileSync(noticesFile, "utf8");
  } catch {
    return "";
  }
}

/** The folder of the package to which a module belongs; none for our modules. */
function packageFolder(path: string): string[] {
  const folder = /^(.*[\\/]node_modules[\\/](?:@[^\\/]+[\\/])?[^\\/]+)[\\/]/.exec(path)?.[1];
  return folder === undefined ? [] : [folder.replace(/^\0/, "")];
}

function noticeOf(folder: string): string {
  const { name, version, license } = JSON.parse(
    readFileSync(join(folder, "package.json"), "utf8"),
  ) as { name: string; version: string; license: string };
  const files = readdirSync(folder).filter((file) => licencePattern.test(file));
  if (files.length === 0) {
    throw new Error(`${name} has no file with its licence, so its code cannot be a part of dist.`);
  }
  const texts = files.toSorted().map((file) => readFileSync(join(folder, file), "utf8").trim());
  return `${name} ${version} (${license})\n\n${texts.join("\n\n")}\n`;
}
