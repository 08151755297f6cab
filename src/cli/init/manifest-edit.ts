/** `package.json` of an existing project: its scripts and its dependencies. */
import { parse } from "jsonc-parser";
import { parseInvocation, type LeafCommand } from "../command.ts";
import type { EditedText } from "./edit.ts";
import { setJson } from "./json-edit.ts";

export interface Manifest {
  readonly type?: string;
  readonly scripts?: Readonly<Record<string, string>>;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
}

export function parseManifest(text: string): Manifest {
  return parse(text) as Manifest;
}

export function dependsOn({ dependencies, devDependencies }: Manifest, name: string): boolean {
  return Object.hasOwn({ ...dependencies, ...devDependencies }, name);
}

/**
 * Scripts that run `wrangler dev` or `wrangler types` run ours, if we know all of their options.
 *
 * @param commands our commands with the names of wrangler's
 */
export function editScripts(text: string, commands: readonly LeafCommand[]): EditedText {
  const notes: string[] = [];
  const edited = Object.entries(parseManifest(text).scripts ?? {}).reduce(
    (each, [name, script]) => {
      const replaced = commands.reduce((line, command) => {
        const pattern = new RegExp(`\\bwrangler ${command.name}(?![\\w:-])([^&|;]*)`, "g");
        return line.replace(pattern, (found, words: string) => {
          try {
            parseInvocation(
              command,
              words.split(/\s+/).filter((word) => word !== ""),
            );
            return `ledge ${command.name}${words}`;
          } catch (error) {
            notes.push(`the script "${name}" stays: ${(error as Error).message}`);
            return found;
          }
        });
      }, script);
      return replaced === script ? each : setJson(each, ["scripts", name], replaced);
    },
    text,
  );
  return { text: edited, notes };
}

/** What `npm init` writes for a project without tests. */
const testPlaceholder = /no test specified/;

/** Adds scripts that the file does not have. */
export function addScripts(text: string, scripts: Readonly<Record<string, string>>): string {
  const given = parseManifest(text).scripts ?? {};
  return Object.entries(scripts).reduce((each, [name, script]) => {
    const current = given[name];
    const isMissing = current === undefined || testPlaceholder.test(current);
    return isMissing ? setJson(each, ["scripts", name], script) : each;
  }, text);
}

/** Adds development dependencies that the file does not have. */
export function addDependencies(text: string, versions: Readonly<Record<string, string>>): string {
  const manifest = parseManifest(text);
  return Object.entries(versions).reduce(
    (each, [name, version]) =>
      dependsOn(manifest, name) ? each : setJson(each, ["devDependencies", name], version),
    text,
  );
}
