import { DOMParser, type Document, type Element, type Node } from '@xmldom/xmldom';

/** Parses a part strictly; warnings are about U+FFFD alone, which a text may hold. */
export function parseXml(part: Buffer): Document {
  const stop = (level: string, message: string) => {
    if (level !== 'warning') throw new Error(`${level}: ${message}`);
  };
  return new DOMParser({ onError: stop }).parseFromString(decode(part), 'text/xml');
}

function decode(part: Buffer): string {
  const utf16 = part[0] === 0xff && part[1] === 0xfe;
  const text = part.toString(utf16 ? 'utf16le' : 'utf8');
  return text.startsWith('\ufeff') ? text.slice(1) : text;
}

/** All elements of that local name below, in document order, whatever their prefix. */
export function all(node: Document | Element, name: string): Element[] {
  return [...node.getElementsByTagNameNS('*', name)];
}

export function children(element: Element): Element[] {
  return [...element.childNodes].filter((node): node is Element => node.nodeType === node.ELEMENT_NODE);
}

export function child(element: Element, name: string): Element | undefined {
  return children(element).find((candidate) => candidate.localName === name);
}

export function attribute(element: Element | undefined, name: string): string | null {
  return element?.getAttribute(name) ?? null;
}

/** One text for all ways to write the same element: no prefixes, attributes in order, no comments, CDATA as text. */
export function canonicalXml(node: Node | undefined): string {
  if (node === undefined) return '';
  if (node.nodeType === node.TEXT_NODE || node.nodeType === node.CDATA_SECTION_NODE) {
    return JSON.stringify(node.nodeValue ?? '')
      .slice(1, -1)
      .replaceAll('<', '&lt;');
  }
  if (node.nodeType !== node.ELEMENT_NODE) return '';
  const element = node as Element;
  const attributes = [...element.attributes]
    .filter(({ name }) => name !== 'xmlns' && !name.startsWith('xmlns:'))
    .map(
      ({ namespaceURI, localName, value }) => ` {${namespaceURI ?? ''}}${localName}=${JSON.stringify(value)}`,
    )
    .toSorted();
  const inside = [...element.childNodes].map(canonicalXml).join('');
  return `<{${element.namespaceURI ?? ''}}${element.localName}${attributes.join('')}>${inside}</>`;
}
