import { isUtf8 } from 'node:buffer';

/** For XML that is malformed or uses what workbooks never do; the caller adds the part. */
export class XmlFault extends Error {}

const entities: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };

/** Decodes raw XML text (as latin1): UTF-8, references, line ends (XML 1.0, 2.11 and 4.6). */
export function xmlText(raw: string): string {
  let text = raw;
  // oxlint-disable-next-line no-control-regex -- everything outside ASCII
  if (/[^\x00-\x7f]/.test(text)) {
    const bytes = Buffer.from(text, 'latin1');
    if (!isUtf8(bytes)) throw new XmlFault('is not in UTF-8');
    text = bytes.toString('utf8');
  }
  if (text.includes('\r')) text = text.replaceAll('\r\n', '\n').replaceAll('\r', '\n');
  return text.includes('&') ? text.replaceAll(/&([^;]*);?/g, reference) : text;
}

function reference(whole: string, name: string): string {
  const known = whole.endsWith(';') ? entities[name] : undefined;
  if (known !== undefined) return known;
  const digits = /^#(?:x([0-9a-fA-F]{1,6})|(\d{1,7}));$/.exec(whole.slice(1));
  const code =
    digits === null
      ? Number.NaN
      : Number.parseInt(digits[1] ?? digits[2] ?? '', digits[1] === undefined ? 10 : 16);
  if (!(code <= 0x10ffff)) throw new XmlFault('uses an entity that no workbook has');
  return String.fromCodePoint(code);
}

/** For element content and double-quoted attributes; also two characters that XML 1.1 treats as line ends. */
export function escapeXml(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll('\u0085', '&#x85;')
    .replaceAll('\u2028', '&#x2028;');
}

/** Decodes `_x000D_` and the like in a cell's text (ECMA-376 part 1, 22.9.2.19, ST_Xstring). */
export function unescapeCellText(text: string): string {
  if (!text.includes('_x')) return text;
  return text.replaceAll(/_x([0-9a-fA-F]{4})_/g, (_, code: string) =>
    String.fromCharCode(Number.parseInt(code, 16)),
  );
}

/** The inverse of `unescapeCellText`: what XML cannot hold or would change, and text that looks like such an escape. */
export function escapeCellText(text: string): string {
  // One pass: the escape of a character right behind `_xFD05` must not end what only looks like one.
  return text.replaceAll(
    // oxlint-disable-next-line no-control-regex -- those are what is looked for
    /_(?=x[0-9a-fA-F]{4}[_\x00-\x08\x0b-\x1f\ufffe\uffff])|[\x00-\x08\x0b-\x1f\ufffe\uffff]/g,
    (character) => {
      const code = character.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0');
      return `_x${code}_`;
    },
  );
}
