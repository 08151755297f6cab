/**
 * The candidate with the fewest edits; `null` when all need more edits than a slip would. A candidate of
 * which every character is replaced is none: "k2" is not "s3".
 */
export function nearest(word: string, candidates: Iterable<string>): string | null {
  let best: string | null = null;
  let fewest = Math.max(2, Math.floor(word.length / 3)) + 1;
  for (const candidate of candidates) {
    const edits = editDistance(word.toLowerCase(), candidate.toLowerCase());
    if (edits < Math.min(fewest, Math.max(word.length, candidate.length)))
      [best, fewest] = [candidate, edits];
  }
  return best;
}

/** The number of insertions, deletions, replacements and swaps of neighbours. */
function editDistance(a: string, b: string): number {
  const rows = [Array.from({ length: b.length + 1 }, (_, column) => column)];
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1];
      let edits = Math.min(
        rows[i - 1]![j]! + 1,
        row[j - 1]! + 1,
        rows[i - 1]![j - 1]! + (same ? 0 : 1),
      );
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) {
        edits = Math.min(edits, rows[i - 2]![j - 2]! + 1);
      }
      row.push(edits);
    }
    rows.push(row);
  }
  return rows[a.length]![b.length]!;
}

export function unknownKey(key: string, known: readonly string[]): string {
  const guess = nearest(key, known);
  return guess === null
    ? `is not a key; known are ${known.join(", ")}`
    : `is not a key; did you mean "${guess}"?`;
}

/** `"puts" is no method. Did you mean "put"?` */
export function unknownWord(what: string, word: string, known: readonly string[]): string {
  const guess = nearest(word, known);
  return (
    `"${word}" is no ${what}. ` +
    (guess === null ? `Use ${known.join(", ")}.` : `Did you mean "${guess}"?`)
  );
}
