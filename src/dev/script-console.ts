/**
 * What a script says on its console, with the places of its sources.
 *
 * The runtime knows only the bundle, so the frames of stacks are traced back by its source map.
 */
import { existsSync, readFileSync } from "node:fs";
import { SourceMap, type SourceMapPayload } from "node:module";
import { basename, dirname, relative, resolve } from "node:path";
import { logLevels, type LogLevel } from "./options.ts";

/** Where a bundle and its map are. */
export interface BundleFiles {
  readonly path: string;
  readonly sourceMapPath: string | undefined;
}

export interface ConsoleMessage {
  readonly level: string;
  readonly message: string;
}

export class ScriptConsole {
  readonly #level: LogLevel;
  #bundle: BundleFiles | null = null;
  #map: SourceMap | null = null;

  constructor(level: LogLevel) {
    this.#level = level;
  }

  /** From now on the script is this one. */
  follow(bundle: BundleFiles): void {
    this.#bundle = bundle;
    this.#map = null;
  }

  say({ level, message }: ConsoleMessage): void {
    const loudness = level === "error" ? "error" : level === "warn" ? "warn" : "info";
    if (logLevels.indexOf(loudness) > logLevels.indexOf(this.#level)) return;
    const stream = loudness === "info" ? process.stdout : process.stderr;
    stream.write(`${this.traced(message)}\n`);
  }

  /** Frames of the bundle become those of the sources. */
  traced(message: string): string {
    const { path } = this.#bundle ?? {};
    if (path === undefined || !message.includes(`${basename(path)}:`)) return message;
    const traced = message.replace(frame, (whole, file: string, line: string, column: string) => {
      if (basename(file) !== basename(path)) return whole;
      return this.#origin(Number(line), Number(column)) ?? whole;
    });
    return traced.replace(wranglerFrame, "");
  }

  #origin(line: number, column: number): string | null {
    const { sourceMapPath } = this.#bundle ?? {};
    if (sourceMapPath === undefined || !existsSync(sourceMapPath)) return null;
    this.#map ??= new SourceMap(
      JSON.parse(readFileSync(sourceMapPath, "utf8")) as SourceMapPayload,
    );
    const entry = this.#map.findEntry(line - 1, column - 1);
    if (!("originalSource" in entry)) return null;
    const root = resolve(dirname(sourceMapPath), this.#map.payload.sourceRoot ?? "");
    const source = relative(process.cwd(), resolve(root, entry.originalSource));
    return `${source}:${entry.originalLine + 1}:${entry.originalColumn + 1}`;
  }
}

/** What wrangler puts around a script is nobody's business. */
const wranglerFrame = /\n\s+at [^\n]*(?:wrangler[\\/]templates|\.wrangler[\\/]tmp)[\\/][^\n]*/g;

/** A place in a stack: a file, a line and a column. */
const frame = /(?:file:\/\/)?((?:[^\s():]|:(?!\d))+):(\d+):(\d+)/g;
