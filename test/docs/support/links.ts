/** The targets of the relative links of a page. */
export function linksOf(text: string): string[] {
  const links = text.matchAll(/\]\(([^)#:]+)(?:#[^)]*)?\)/g);
  return Array.from(links, ([, target]) => target as string);
}
