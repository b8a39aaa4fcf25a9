/** So many wrong tokens in a row are answered at once, … */
const burst = 10;
/** … and afterwards one in so many ms. */
const refillMs = 1_000;

/**
 * Slows down whoever tries tokens: when too many were wrong, no further one is looked at for a moment, wherever it comes
 * from. Two numbers, so that there is nothing to fill. Whoever is logged in does not notice.
 */
export class GuessLimit {
  #left = burst;
  #at = 0;

  /** How long (ms) until the next token is looked at; 0: now. `now`: ms of a clock that only goes forward. */
  waitMs(now: number): number {
    this.#left = Math.min(burst, this.#left + (now - this.#at) / refillMs);
    this.#at = now;
    return this.#left >= 1 ? 0 : Math.ceil((1 - this.#left) * refillMs);
  }

  /** A token was wrong. */
  missed(): void {
    this.#left -= 1;
  }
}
