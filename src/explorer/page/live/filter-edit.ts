/** Changes of the filter's text by the chips beside it: the text says everything that is filtered. */
import { filterWords, readMinimum } from "./activity-filter.ts";

export function hasWord(text: string, word: string): boolean {
  return filterWords(text).includes(word);
}

export function toggleWord(text: string, word: string): string {
  const words = filterWords(text);
  const others = words.filter((each) => each !== word);
  return (others.length < words.length ? others : [...words, word]).join(" ");
}

/** The first minimum of the text, in milliseconds: 0 if there is none. */
export function minimumOf(text: string): number {
  const word = filterWords(text).find(isMinimum);
  return word === undefined ? 0 : (readMinimum(word) as number);
}

export function withMinimum(text: string, milliseconds: number): string {
  const others = filterWords(text).filter((word) => !isMinimum(word));
  const added = milliseconds === 0 ? [] : [`>${milliseconds}ms`];
  return [...others, ...added].join(" ");
}

function isMinimum(word: string): boolean {
  return word.startsWith(">") && readMinimum(word) !== null;
}
