import type { MatchForms, Rarity } from '../core/merge/match-likeness.ts';

/** How many records have each word in each field, and each whole name. */
export class Words {
  #records = 0;
  readonly #counts = new Map<string, number>();
  readonly #names = new Map<string, number>();

  see(forms: MatchForms): void {
    this.#records += 1;
    for (const [field, form] of forms.entries())
      for (const word of new Set(form?.words)) countIn(this.#counts, `${field} ${word}`);
    countIn(this.#names, forms[0]?.key ?? '');
  }

  /** 1 for a word that one record alone has. */
  readonly rarity: Rarity = (field, word) => {
    const count = this.#counts.get(`${field} ${word}`) ?? 1;
    return Math.log(1 + this.#records / count) / Math.log(1 + this.#records);
  };

  /** How many records have the same name. */
  namesakes(forms: MatchForms): number {
    return this.#names.get(forms[0]?.key ?? '') ?? 0;
  }
}

function countIn(counts: Map<string, number>, key: string): void {
  counts.set(key, (counts.get(key) ?? 0) + 1);
}
