import { XmlFault, xmlText } from './xml-text.ts';

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
