/**
 * The imports between source files, and the rules that `test/docs/architecture.json` sets for them.
 * Every rule returns one sentence for each import that breaks it.
 */
import { posix } from "node:path";

/** A source file, and what it imports: paths of the repository, or names of packages. */
export type ImportGraph = ReadonlyMap<string, readonly string[]>;

/** `anywhere`: each file runs in both runtimes. `either`: each file runs in one of the two. */
type Runtime = "anywhere" | "either" | "Node" | "workerd";

/** An entry of `test/docs/architecture.json`. */
export interface FolderRule {
  readonly folder: string;
  readonly runtime: Runtime;
  readonly mayImport: readonly string[];
}

export function readGraph(
  files: readonly string[],
  read: (file: string) => string,
  { withTypes }: { readonly withTypes: boolean },
): ImportGraph {
  return new Map(files.map((file) => [file, importsOf(file, read(file), withTypes)]));
}

function importsOf(file: string, text: string, withTypes: boolean): string[] {
  // Templates hold the source of other files. The compiler erases imports of types.
  const typeImports = withTypes ? /(?!)/g : /^(?:import|export) type [^;]*;$/gm;
  const code = text.replaceAll(/`[^`]*`/g, "").replaceAll(typeImports, "");
  const specifiers = code.matchAll(/\b(?:from|import)\s*\(?\s*"([^"]+)"/g);
  return Array.from(specifiers, ([, specifier]) =>
    (specifier as string).startsWith(".")
      ? posix.join(posix.dirname(file), specifier as string).replace(/\.js$/, ".ts")
      : (specifier as string),
  );
}

export function readFolderRules(json: string): FolderRule[] {
  const entries = Object.entries(JSON.parse(json) as Record<string, Omit<FolderRule, "folder">>);
  return entries.map(([folder, rule]) => ({ folder, ...rule }));
}

/** The entry of the innermost folder that holds the file. */
function ruleFor(file: string, rules: readonly FolderRule[]): FolderRule | undefined {
  return rules
    .filter(({ folder }) => file.startsWith(`${folder}/`))
    .toSorted((left, right) => right.folder.length - left.folder.length)[0];
}

/** Imports from one folder into another that the first may not import. */
export function wrongDirections(graph: ImportGraph, rules: readonly FolderRule[]): string[] {
  return Array.from(graph).flatMap(([file, imports]) => {
    const from = ruleFor(file, rules);
    if (from === undefined) return [`${file} is in no folder of architecture.json.`];
    return imports.flatMap((target) => {
      const to = graph.has(target) ? ruleFor(target, rules) : undefined;
      if (to === undefined || to === from || from.mayImport.includes(to.folder)) return [];
      return [`${file} imports ${target}, but ${from.folder} may not import ${to.folder}.`];
    });
  });
}

/** Modules of another runtime that a file loads, directly or through its imports. */
export function wrongRuntimes(graph: ImportGraph, rules: readonly FolderRule[]): string[] {
  const refused: Record<Runtime, RegExp> = {
    anywhere: /^(?:node|cloudflare):/,
    either: /^$/,
    Node: /^cloudflare:/,
    workerd: /^node:/,
  };
  return Array.from(graph.keys()).flatMap((file) => {
    const rule = ruleFor(file, rules);
    if (rule === undefined) return [];
    const chain = findImport(graph, file, refused[rule.runtime]);
    return chain === null ? [] : [`${rule.folder} runs in ${rule.runtime}: ${chain.join(" → ")}.`];
  });
}

/** The shortest chain of imports from a file to a module whose name matches. */
function findImport(graph: ImportGraph, file: string, name: RegExp): string[] | null {
  const seen = new Set([file]);
  let chains = [[file]];
  while (chains.length > 0) {
    const longer: string[][] = [];
    for (const chain of chains) {
      for (const target of graph.get(chain.at(-1) as string) ?? []) {
        if (name.test(target)) return [...chain, target];
        if (seen.has(target)) continue;
        seen.add(target);
        longer.push([...chain, target]);
      }
    }
    chains = longer;
  }
  return null;
}

/** Files that import each other in a circle: one shortest circle for each file that has one. */
export function circles(graph: ImportGraph): string[] {
  const found = new Map<string, string>();
  for (const file of graph.keys()) {
    const exactly = new RegExp(`^${file.replaceAll(/[.\\/]/g, "\\$&")}$`);
    const chain = findImport(graph, file, exactly);
    if (chain === null) continue;
    const members = chain.slice(1).toSorted().join(" ");
    if (!found.has(members)) found.set(members, `Circle: ${chain.join(" → ")}.`);
  }
  return [...found.values()];
}
