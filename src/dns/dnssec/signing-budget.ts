/**
 * How many signatures a second may be made for names that the zone does not have. The budget refills
 * steadily and saves up for one second. The last quarter is for clients over TCP and HTTPS, whose
 * addresses are proven: a flood over UDP cannot use it.
 */
const reservedShare = 0.25;

export class SigningBudget {
  readonly #perSecond: number;
  #left: number;
  #updatedSeconds = 0;

  constructor({ perSecond }: { readonly perSecond: number }) {
    this.#perSecond = perSecond;
    this.#left = perSecond;
  }

  /** Returns false when the signature must not be made now. */
  take(nowSeconds: number, { isProven }: { readonly isProven: boolean }): boolean {
    const elapsed = Math.max(0, nowSeconds - this.#updatedSeconds);
    this.#updatedSeconds = nowSeconds;
    this.#left = Math.min(this.#perSecond, this.#left + elapsed * this.#perSecond);
    const reserved = isProven ? 0 : this.#perSecond * reservedShare;
    if (this.#left - 1 < reserved) return false;
    this.#left -= 1;
    return true;
  }
}
