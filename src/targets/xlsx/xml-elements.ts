import { type Splice, splice } from '../file/splice.ts';
import { localName, XmlScanner } from './xml-scanner.ts';
import { XmlFault } from './xml-text.ts';

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
