/** The upper half of code page 850, in which Excel saves "CSV (MS-DOS)". */
const upper850 =
  'ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜø£Ø×ƒáíóúñÑªº¿®¬½¼¡«»░▒▓│┤ÁÂÀ©╣║╗╝¢¥┐└┴┬├─┼ãÃ╚╔╩╦╠═╬¤ðÐÊËÈıÍÎÏ┘┌█▄¦Ì▀ÓßÔÒõÕµþÞÚÛÙýÝ¯´≡±‗¾¶§÷¸°¨·¹³²■\u00a0';

const upperBytes = Uint8Array.from({ length: 128 }, (_, at) => 128 + at);
const upperLatin1 = String.fromCharCode(...upperBytes);
const upper1252 = new TextDecoder('windows-1252').decode(upperBytes);
const upperMac = new TextDecoder('macintosh').decode(upperBytes);

/** How texts were written and then read: `null` is UTF-8, else the upper half of the character set. */
const mistakes: readonly { readonly written: string | null; readonly read: string }[] = [
  { written: null, read: upper1252 },
  { written: null, read: upperLatin1 },
  { written: null, read: upperMac },
  { written: null, read: upper850 },
  { written: upperMac, read: upper1252 },
  { written: upper850, read: upper1252 },
];

const foreign = /[^\0-\x7f]/;

/**
 * Whether a text is what a program makes of another one that it reads or stores in the wrong encoding: `MÃ¼ller` or
 * `M?ller` of `Müller`.
 */
export function isGarbled(text: string, original: string): boolean {
  const [shown, meant] = [text.normalize('NFC'), original.normalize('NFC')];
  if (shown === meant || !foreign.test(meant)) return false;
  return (
    isReplaced(shown, meant) || mistakes.some(({ written, read }) => reread(meant, written, read) === shown)
  );
}

/** Whether nothing but characters that an encoding lacks became `?` or U+FFFD: some of them one by one, or all. */
function isReplaced(shown: string, meant: string): boolean {
  const isOneByOne = (parts: readonly string[], wanted: readonly string[]): boolean =>
    parts.length === wanted.length &&
    parts.every((part, at) => part === wanted[at] || (isMark(part) && foreign.test(wanted[at] ?? '')));
  if (isOneByOne(Array.from(shown), Array.from(meant)) || isOneByOne(shown.split(''), meant.split('')))
    return true;
  const runs = (text: string): string => text.replaceAll(/[?\x80-\uffff]+/g, '?');
  return !/[^\0-\x7f\ufffd]/.test(shown) && runs(shown) === runs(meant);
}

const isMark = (part: string): boolean => part === '?' || part === '\ufffd';

/** The text when its bytes are read as another character set; `?` for what the first one lacks. */
function reread(text: string, written: string | null, read: string): string {
  const bytes = written === null ? [...Buffer.from(text)] : bytesOf(text, written);
  return bytes.map((byte) => (byte < 128 ? String.fromCharCode(byte) : (read[byte - 128] ?? ''))).join('');
}

const questionMark = 63;

function bytesOf(text: string, upper: string): readonly number[] {
  return Array.from(text).map((char) => {
    const code = char.codePointAt(0) ?? 0;
    if (code < 128) return code;
    const at = upper.indexOf(char);
    return at < 0 ? questionMark : 128 + at;
  });
}
