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
  const spaced = isCompany
    ? plain.replaceAll(unspaced, (form) => ` ${form.replaceAll(/[()]/g, '')} `)
    : plain;
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

/**
 * Legal forms at the ends of company names, in normal form (no case, accents or dots): each line is one form with its
 * spellings, those of several words as they are.
 */
const spellings = `
gmbh|gesellschaft mit beschrankter haftung|mbh
ug|ug haftungsbeschrankt|haftungsbeschrankt|unternehmergesellschaft
ag|aktiengesellschaft
kg|kommanditgesellschaft
ek|e k|ekfm|e kfm|eingetragener kaufmann
ev|e v
eg|e g
partg|partgmbb|partg mbb
sarl|s a r l|sa rl|sarlu
sas|sasu|s a s
sa|s a|societe anonyme|sociedad anonima
snc|s n c
sl|s l|slu|sociedad limitada
srl|s r l|srls
spa|s p a
lda|limitada|ltda
bv|b v|bvba
nv|n v|naamloze vennootschap
ab|aktiebolag
as|a s|aksjeselskap
oy|osakeyhtio
sro|s r o|spol s r o
doo|d o o
dd|d d
spzoo|sp z oo|sp z o o|spolka z ograniczona odpowiedzialnoscia|spolka zoo
sp k|sp j
ltd|limited
llc|l l c
inc|incorporated
corp|corporation
co|company|cie|compagnie
pty|pty ltd|proprietary limited
pvt|private limited|pvt ltd|pte|pte ltd
bhd|sdn bhd
kk|k k|kabushiki kaisha
sti|ltd sti
株式会社|株
`;

/** Those with one spelling. */
const spelledOnce = `
ggmbh|kgaa|ohg|gbr|se|eurl|sci|sapa|sgps|vof|cv|sprl|hb|asa|aps|ks|oyj|ou|uab|sia|vos|zrt|nyrt|kft|
bt|ad|eood|ood|plc|llp|lp|pllc|tbk|pt|gk|ооо|оао|зао|пао|ао|ип|тоо|тов|αε|επε|有限会社|合同会社|有限公司|股份有限公司|
有限责任公司|주식회사|spolka akcyjna|as ticaret|anonim sirketi|limited sirketi`;

/** Also written before the name. */
const leading = new Set(
  'ооо|оао|зао|пао|ао|ип|тоо|тов|pt|uab|sia|ou|株式会社|有限会社|合同会社|주식회사'.split('|'),
);

/** Never part of a name, wherever they appear. */
const anywhere = new Set(
  'gmbh|ggmbh|kgaa|ohg|gbr|sarl|sas|srl|bv|sro|spzoo|ltd|llc|inc|plc|llp|pty|kft|oyj|aps|doo'.split('|'),
);

interface LegalForm {
  readonly name: string;
  readonly words: readonly string[];
}

const forms: readonly LegalForm[] = [...spellings.trim().split('\n'), ...spelledOnce.trim().split(/\|\s*/)]
  .flatMap((line) => {
    const [name = '', ...others] = line.split('|');
    return [name, ...others].map((spelling) => ({ name, words: spelling.split(' ') }));
  })
  .toSorted((a, b) => b.words.length - a.words.length);

const byLastWord = Map.groupBy(forms, ({ words }) => words.at(-1));
const byFirstWord = Map.groupBy(
  forms.filter(({ name }) => leading.has(name)),
  ({ words }) => words[0],
);

/** Legal forms written without a space before or after the name. */
const unspaced = /株式会社|有限会社|合同会社|股份有限公司|有限责任公司|有限公司|\(株\)|주식회사/gu;

/**
 * The words of a company name without its legal forms, and those forms by name. A name that consists of nothing else
 * keeps its last word.
 */
function withoutLegalForms(words: readonly string[]): {
  readonly words: readonly string[];
  readonly legal: readonly string[];
} {
  let left = words;
  const legal = new Set<string>();
  for (;;) {
    const last = byLastWord.get(left.at(-1))?.find((form) => endsWith(left, form.words));
    const first = byFirstWord.get(left[0])?.find((form) => form.words.length < left.length);
    if (last !== undefined) left = left.slice(0, -last.words.length);
    else if (first !== undefined) left = left.slice(first.words.length);
    else break;
    legal.add((last ?? first)?.name ?? '');
  }
  const kept = left.filter((word) => !anywhere.has(word));
  if (kept.length > 0 && kept.length < left.length) {
    for (const word of left) if (anywhere.has(word)) legal.add(word);
    const again = withoutLegalForms(kept);
    return { words: again.words, legal: [...new Set([...legal, ...again.legal])].toSorted() };
  }
  return { words: left, legal: [...legal].toSorted() };
}

function endsWith(words: readonly string[], end: readonly string[]): boolean {
  if (end.length >= words.length) return false;
  return end.every((word, nth) => word === words[words.length - end.length + nth]);
}
