const seconds = { s: 1, m: 60, h: 3600, d: 86_400, w: 604_800 } as const;

/** `3600`, `1h`, `1h30m`: what BIND takes; `null` when the word is no TTL at all. */
export function parseTtl(word: string): number | null {
  if (/^\d{1,10}$/.test(word)) return Number(word);
  if (!/^(?:\d{1,10}[smhdw])+$/i.test(word)) return null;
  let total = 0;
  for (const [, count, unit] of word.toLowerCase().matchAll(/(\d+)([smhdw])/g)) {
    total += Number(count) * seconds[unit as keyof typeof seconds];
  }
  return total;
}
