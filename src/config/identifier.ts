/** Names of bindings, which a script writes after `env.`. */

const identifier = /^[\p{ID_Start}$_][\p{ID_Continue}$\u200c\u200d]*$/u;

export function isIdentifier(name: string): boolean {
  return identifier.test(name);
}

/** A name that cannot be written after `env.`, and the nearest that can. */
export function notIdentifier(name: string): string {
  const better = name.replace(/[^\p{ID_Continue}$]+/gu, "_").replace(/^(?=\d)|^$/, "_");
  return (
    `${JSON.stringify(name)} is not a JavaScript identifier, so a script could not write ` +
    `env.${name}. Use letters, digits, "_" and "$", as in "${better.toUpperCase()}".`
  );
}
