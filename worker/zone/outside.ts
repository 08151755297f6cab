/** A question for a resolver: addresses of a name that no zone here has. */
export interface OutsideQuestion {
  readonly name: string;
  readonly type: "A" | "AAAA";
}

export type OutsideResult =
  /** No addresses: the name has none of that family, or does not exist. */
  { readonly addresses: readonly string[]; readonly ttlSeconds: number } | "failed";

/** What a resolver said, for as long as it may be believed. Bounded; `now` is handed in. */
export declare class OutsideAnswers {
  put(question: OutsideQuestion, result: OutsideResult, nowSeconds: number): void;
}
