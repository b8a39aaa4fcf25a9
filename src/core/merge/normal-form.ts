import { spaceLegalForms, withoutLegalForms } from './legal-forms.ts';

/** What a text is compared by when spelling does not count. */
export interface NormalForm {
  /** Equal for texts that mean the same; empty: nothing to compare. */
  readonly key: string;
  readonly words: readonly string[];
  /** Of a company: its legal forms, by name and in order. */
  readonly legal: string;
}

/** Letters that Unicode does not decompose. */
const letters: Readonly<Record<string, string>> = {
  ß: 'ss',
  æ: 'ae',
  œ: 'oe',
  ø: 'o',
  đ: 'd',
  ð: 'd',
  þ: 'th',
  ł: 'l',
  ı: 'i',
  ħ: 'h',
};

/** Spellings of "and", which may also be a sign or missing. */
const ands: ReadonlySet<string> = new Set(['and', 'und', 'et']);

const address = /^(?:https?:\/\/)?(?:www\.)?([\p{L}\p{N}-]+(?:\.[\p{L}\p{N}-]+)+)(?::\d+)?(?:[/?#]\S*)?$/u;

/**
 * The normal form of a text: without case, accents, punctuation and "and". A web address becomes its host; a company
 * name (`isCompany`) loses its legal form.
 */
export function normalForm(text: string, isCompany: boolean): NormalForm {
  const lower = text.normalize('NFKC').toLowerCase().trim();
  const host = isCompany ? undefined : address.exec(lower)?.[1];
  if (host !== undefined) return { key: host, words: [host], legal: '' };
  const plain = lower
    .normalize('NFD')
    // In other scripts a mark makes a different letter.
    .replaceAll(/([\p{Script=Latin}\p{Script=Greek}])\p{M}+/gu, '$1')
    .normalize('NFC')
    .replaceAll(/[^\0-\x7f]/g, (letter) => letters[letter] ?? letter)
    // NFKC makes a space and a mark of ´, which many type for an apostrophe.
    .replaceAll(/['’‘`]| \u0301/g, '')
    // "S.A." is one word.
    .replaceAll(/(?<![\p{L}\p{N}])(\p{L})\.(?=\p{L}(?![\p{L}\p{N}]))/gu, '$1');
  const spaced = isCompany ? spaceLegalForms(plain) : plain;
  const all = spaced.split(/[^\p{L}\p{N}\p{M}]/u).filter((word) => word !== '');
  const meant = all.filter((word) => !ands.has(word));
  const kept = meant.length === 0 ? all : meant;
  const { words, legal } = isCompany ? withoutLegalForms(kept) : { words: kept, legal: [] };
  return { key: words.join(' '), words, legal: legal.join(' ') };
}

/** A word roughly as it sounds: ä as ae, ss as s. */
export function soundOf(word: string): string {
  return word.replaceAll(/([aou])e/g, '$1').replaceAll(/(.)\1+/gu, '$1');
}
