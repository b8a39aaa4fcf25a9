import { folded } from './value.ts';

/** No, and an unticked box, as programs and people write them. */
const no: ReadonlySet<string> = new Set(
  (
    '|-|–|0|☐|✗|✘|no|n|false|off|nein|falsch|aus|non|faux|falso|não|nao|nee|onwaar|nie|fałsz|falsz|ne|nepravda|' +
    'nej|falsk|falskt|nei|usann|ei|epätosi|nem|hamis|hayır|hayir|yanlış|yanlis|нет|ложь|ні|хибність|όχι|ψευδές'
  ).split('|'),
);

/**
 * Whether a cell of the pause column pauses its row: a ticked box, or anything but a no. Of a word that nobody foresaw
 * this is the side on which nothing is lost.
 */
export const pauses = (text: string): boolean => !no.has(folded(text));
