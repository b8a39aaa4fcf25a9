import { isUtf8 } from 'node:buffer';
import { type Splice, splice } from '../file/splice.ts';

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

export interface XmlElement {
  readonly local: string;
  /** With its colon, or empty. */
  readonly prefix: string;
  readonly parent: XmlElement | null;
  /** Raw. */
  readonly attributes: string;
  readonly attributesStart: number;
  readonly contentStart: number;
  /** The same as `end` for `<a/>`. */
  readonly contentEnd: number;
  readonly end: number;
  /** Raw text, without that of the elements in it. */
  readonly text: string;
}

/** In document order, the root first. */
export type XmlElements = readonly [XmlElement, ...XmlElement[]];

/** Far above what any program writes, far below what fills the memory. */
const mostElements = 500_000;

/** All elements of a part. @throws XmlFault as XmlScanner does */
export function readElements(content: Buffer): XmlElements {
  type Writable<T> = { -readonly [Key in keyof T]: T[Key] };
  const elements: XmlElement[] = [];
  const open: Writable<XmlElement>[] = [];
  const scanner = new XmlScanner({
    open(name, attributes, start, end) {
      const local = localName(name);
      const prefix = name.slice(0, name.length - local.length);
      const attributesStart = start + 1 + name.length;
      const parent = open.at(-1) ?? null;
      const places = { attributesStart, contentStart: end, contentEnd: end, end };
      const element = { local, prefix, parent, attributes, ...places, text: '' };
      open.push(element);
      if (elements.push(element) > mostElements) throw new XmlFault('has too many elements for a workbook');
    },
    close(_, start, end) {
      const element = open.pop();
      if (element === undefined) return;
      element.contentEnd = Math.max(start, element.contentStart);
      element.end = end;
    },
    text(raw) {
      const element = open.at(-1);
      if (element !== undefined) element.text += raw;
    },
  });
  scanner.write(content);
  scanner.end();
  const [root, ...others] = elements;
  if (root === undefined) throw new XmlFault('is empty');
  return [root, ...others];
}

export function withChild({ prefix, local, contentEnd, end }: XmlElement, child: string): Splice {
  if (contentEnd < end) return splice(contentEnd, contentEnd, child);
  return splice(end - 2, end, `>${child}</${prefix}${local}>`);
}

/** Called in document order. Positions are bytes from the start of the part; `end` is exclusive. */
export interface XmlHandler {
  /** `name` has its prefix; `attributes` is raw. `<a/>` also calls `close`, with the same positions. */
  open(name: string, attributes: string, start: number, end: number): void;
  close(name: string, start: number, end: number): void;
  /** Raw, in latin1: decode with `xmlText`. */
  text(raw: string): void;
}

const tag =
  /<(\/?)([A-Za-z_\x80-\xff][^\s/>"'<=]*)((?:\s+[^\s=<>"'/]+\s*=\s*(?:"[^"<]*"|'[^'<]*'))*)\s*(\/?)>/y;
const longestToken = 4 * 1024 * 1024;
const deepest = 200;

/**
 * Chunk by chunk with each tag's position, in little memory. Leaves namespaces to the handler; refuses document types (external
 * entities, "billion laughs") and encodings other than UTF-8. Throws XmlFault, also from `end` when elements are unclosed.
 */
export class XmlScanner {
  readonly #handler: XmlHandler;
  readonly #open: string[] = [];
  #rest = '';
  /** Position of `#rest` in the part. */
  #position = 0;
  #rootSeen = false;
  #begun = false;

  constructor(handler: XmlHandler) {
    this.#handler = handler;
  }

  write(chunk: Buffer): void {
    // In latin1 one character is one byte, so positions agree.
    this.#rest += chunk.toString('latin1');
    if (!this.#begun && this.#rest.length >= 4) this.#begin();
    const used = this.#scan();
    this.#rest = this.#rest.slice(used);
    this.#position += used;
    if (this.#rest.length > longestToken) throw new XmlFault('has a text or tag that does not end');
  }

  end(): void {
    if (!this.#rootSeen || this.#open.length > 0 || this.#rest.trim() !== '') {
      throw new XmlFault('ends in the middle');
    }
  }

  #begin(): void {
    this.#begun = true;
    if (this.#rest.startsWith('\xef\xbb\xbf')) {
      this.#rest = this.#rest.slice(3);
      this.#position += 3;
    }
  }

  /** Handles complete tokens; returns how many bytes it consumed. */
  #scan(): number {
    const rest = this.#rest;
    let at = 0;
    for (;;) {
      const start = rest.indexOf('<', at);
      if (start < 0) return at;
      if (start > at) this.#text(rest.slice(at, start));
      const second = rest.charCodeAt(start + 1);
      // "!" and "?"
      const end = second === 0x21 || second === 0x3f ? this.#special(start) : this.#tag(start);
      if (end < 0) return start;
      at = end;
    }
  }

  #text(raw: string): void {
    if (this.#open.length > 0) this.#handler.text(raw);
    else if (raw.trim() !== '') throw new XmlFault('has text outside its elements');
  }

  /** The end of the tag that starts here; -1: incomplete. */
  #tag(start: number): number {
    const rest = this.#rest;
    tag.lastIndex = start;
    const match = tag.exec(rest);
    if (match === null) {
      if (rest.length - start > 256 * 1024) throw new XmlFault('has a broken tag');
      return -1;
    }
    const [whole, closing, name = '', attributes = '', empty] = match;
    const from = this.#position + start;
    const to = from + whole.length;
    if (closing !== '') {
      if (attributes !== '' || empty !== '' || this.#open.pop() !== name) {
        throw new XmlFault(`closes <${name}> that was not open`);
      }
      this.#handler.close(name, from, to);
    } else {
      if (this.#open.length === 0 && this.#rootSeen) throw new XmlFault('continues after its end');
      this.#rootSeen = true;
      this.#handler.open(name, attributes, from, to);
      if (empty !== '') this.#handler.close(name, from, to);
      else if (this.#open.push(name) > deepest) throw new XmlFault('is nested too deeply');
    }
    return start + whole.length;
  }

  #special(start: number): number {
    const rest = this.#rest;
    if (rest.startsWith('<?', start)) {
      const end = rest.indexOf('?>', start);
      if (end < 0) return -1;
      const encoding =
        /^<\?xml\s[^>]*encoding\s*=\s*["']([^"']*)/.exec(rest.slice(start, end))?.[1] ?? 'utf-8';
      if (!/^(utf-?8|us-ascii)$/i.test(encoding)) throw new XmlFault('is not in UTF-8');
      return end + 2;
    }
    if (rest.startsWith('<!--', start)) {
      const end = rest.indexOf('-->', start + 4);
      return end < 0 ? -1 : end + 3;
    }
    if (rest.startsWith('<![CDATA[', start)) {
      const end = rest.indexOf(']]>', start);
      if (end < 0) return -1;
      this.#text(rest.slice(start + 9, end).replaceAll('&', '&amp;'));
      return end + 3;
    }
    if (rest.length - start < 9) return -1;
    throw new XmlFault('declares a document type or entities, which no workbook does');
  }
}

/** One attribute's decoded value; null: absent. */
export function attribute(attributes: string, name: string): string | null {
  const place = attributePlace({ attributes, attributesStart: 0 }, name);
  return place === null ? null : xmlText(attributes.slice(place.start, place.end));
}

/** The position of one attribute's value in the part, without quotes; null: absent. */
export function attributePlace(
  { attributes, attributesStart }: { readonly attributes: string; readonly attributesStart: number },
  name: string,
): { start: number; end: number } | null {
  const each = /([^\s=]+)\s*=\s*(?:"([^"]*)"|'([^']*)')/g;
  for (let match = each.exec(attributes); match !== null; match = each.exec(attributes)) {
    if (match[1] !== name) continue;
    const end = attributesStart + each.lastIndex - 1;
    return { start: end - (match[2] ?? match[3] ?? '').length, end };
  }
  return null;
}

export function localName(name: string): string {
  return name.slice(name.indexOf(':') + 1);
}
