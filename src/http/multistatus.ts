import { DOMParser, type Element } from '@xmldom/xmldom';
import { decoded } from '../lib/foreign-text.ts';

export interface DavResponse {
  /** The last part of its path, decoded. */
  readonly name: string;
  /** Of the whole resource, where the server gives one; 404: it is gone. */
  readonly status: number | null;
  /** The properties that it has, by their local names. */
  readonly props: ReadonlyMap<string, Element>;
}

const dav = 'DAV:';

/** Null: not well formed, not a multistatus, or with a document type, which no server needs and which may hold entities that grow without end. */
export function readMultistatus(body: string): readonly DavResponse[] | null {
  if (/<!DOCTYPE/i.test(body)) return null;
  const root = parse(body);
  if (root?.namespaceURI !== dav || root.localName !== 'multistatus') return null;
  return children(root, 'response').flatMap((response) => {
    const name = nameOf(child(response, 'href')?.textContent ?? '');
    return name === null ? [] : [{ name, status: statusOf(response), props: propsOf(response) }];
  });
}

/** Null: missing or empty. */
export function textOf({ props }: DavResponse, name: string): string | null {
  return props.get(name)?.textContent || null;
}

export function mentions({ props }: DavResponse, property: string, element: string): boolean {
  return (props.get(property)?.getElementsByTagNameNS('*', element).length ?? 0) > 0;
}

function parse(body: string): Element | null {
  const strict = (level: string, message: string): void => {
    if (level !== 'warning') throw new SyntaxError(message);
  };
  try {
    return new DOMParser({ onError: strict }).parseFromString(body, 'text/xml').documentElement;
  } catch {
    return null;
  }
}

function children(parent: Element, name: string): Element[] {
  return [...parent.children].filter((one) => one.localName === name && one.namespaceURI === dav);
}

function child(parent: Element, name: string): Element | undefined {
  return children(parent, name)[0];
}

/** Servers give a path or a whole address, encoded each in their own way. */
function nameOf(href: string): string | null {
  const path = URL.parse(href.trim(), 'http://x')?.pathname;
  return path === undefined ? null : decoded(path.replace(/\/$/, '').split('/').at(-1) ?? '');
}

function statusOf(element: Element): number | null {
  const [, digits] = /^HTTP\/\S+ (\d{3})/.exec(child(element, 'status')?.textContent?.trim() ?? '') ?? [];
  return digits === undefined ? null : Number(digits);
}

function propsOf(response: Element): ReadonlyMap<string, Element> {
  const props = new Map<string, Element>();
  for (const propstat of children(response, 'propstat')) {
    if ((statusOf(propstat) ?? 200) >= 300) continue;
    for (const element of child(propstat, 'prop')?.children ?? [])
      if (element.localName !== null) props.set(element.localName, element);
  }
  return props;
}
