/**
 * The check of Node's version, which every entry of the package makes first.
 *
 * Node links all modules of a static import before it evaluates the first of them. So a module that
 * an entry imports statically must not import a name that Node 20 does not have, such as
 * `getCallSites` of `node:util`: Node would report that name as a SyntaxError before the check runs.
 */

/** The `engines` of package.json say the same. */
export const nodeVersionMin = "22.13";

/** @returns what is wrong with a version of Node, and what to do; `null` for a good version */
export function nodeVersionProblem(version: string): string | null {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  const [majorMin = 0, minorMin = 0] = nodeVersionMin.split(".").map(Number);
  if (major > majorMin || (major === majorMin && minor >= minorMin)) return null;
  return (
    `Ledge needs Node ${nodeVersionMin} or later, and this is Node ${version}. ` +
    "Install a newer Node: https://nodejs.org"
  );
}
