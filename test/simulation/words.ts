import type { Random } from '../../src/demo/random.ts';
import { canonicalToken, entityOf, type Field } from './tokens.ts';

export type Side = 'sheet' | 'web';

const base = Date.UTC(2031, 0, 1);

/** What people type: each word and each moment once, so that it can be found again wherever it goes. */
export class Words {
  readonly all = new Map<string, Side>();
  readonly #random: Random;
  #next = 0;

  constructor(random: Random) {
    this.#random = random;
  }

  /** The name of a company that nobody knew before. */
  company(side: Side): string {
    const entity = `n${++this.#next}n`;
    return `${entity} Company ${this.#token(side)}`;
  }

  /** Something new for a field of the company of this name; null when it has none. */
  value(field: Field, name: string, side: Side): string | null {
    const entity = entityOf(name);
    if (entity === null) return null;
    if (field === 'companyName') return `${entity} Company ${this.#token(side)}`;
    const kind = this.#random.below(10);
    if (kind === 0) return '';
    if (field === 'nextFollowUpAt') {
      if (kind === 1 && side === 'sheet') return `soon ${this.#token(side)}`;
      const iso = new Date(base + ++this.#next * 60_000).toISOString();
      this.all.set(canonicalToken(iso.slice(0, 16)), side);
      if (side === 'web' || kind < 5) return iso;
      if (kind < 8) return iso.slice(0, 16).replace('T', ' ');
      return `${iso.slice(8, 10)}.${iso.slice(5, 7)}.${iso.slice(0, 4)} ${iso.slice(11, 16)}`;
    }
    const token = this.#token(side);
    return [token, `${token} "ü", b`, ` ${token} `, `=${token}`, `two\nlines ${token}`][kind % 5] ?? token;
  }

  #token(side: Side): string {
    const token = `e${++this.#next}e`;
    this.all.set(token, side);
    return token;
  }
}
