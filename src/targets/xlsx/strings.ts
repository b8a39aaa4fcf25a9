import type { XlsxPackage } from './part.ts';
import { localName } from './xml-scanner.ts';
import { unescapeCellText, XmlFault, xmlText } from './xml-text.ts';

/** The shared texts that cells refer to by number; packed as bytes: there can be a million. */
export class SharedStrings {
  #bytes = Buffer.alloc(64 * 1024);
  readonly #ends: number[] = [];

  add(raw: string): void {
    const start = this.#ends.at(-1) ?? 0;
    if (start + raw.length > this.#bytes.length) {
      const larger = Buffer.allocUnsafe(2 * (start + raw.length));
      this.#bytes.copy(larger, 0, 0, start);
      this.#bytes = larger;
    }
    this.#ends.push(start + this.#bytes.write(raw, start, 'latin1'));
  }

  /** @throws XmlFault when there is no such text */
  get(index: number): string {
    const end = this.#ends[index];
    if (end === undefined) throw new XmlFault('refers to a missing shared text');
    return unescapeCellText(xmlText(this.#bytes.toString('latin1', this.#ends[index - 1] ?? 0, end)));
  }
}

/** `part` null: none. */
export async function readSharedStrings(pack: XlsxPackage, part: string | null): Promise<SharedStrings> {
  const strings = new SharedStrings();
  const entry = part === null ? null : pack.find(part);
  if (entry === null) return strings;
  const collected = new TextRuns();
  await pack.scanStrings(entry, {
    open: (name) => collected.open(localName(name)),
    close: (name) => {
      const local = localName(name);
      collected.close(local);
      if (local === 'si') strings.add(collected.take());
    },
    text: (raw) => collected.text(raw),
  });
  return strings;
}

/** Joins the runs of a rich text, without its phonetic reading (`rPh`). */
export class TextRuns {
  #inText = false;
  #inPhonetic = false;
  #raw = '';

  open(local: string): void {
    if (local === 't') this.#inText = true;
    else if (local === 'rPh') this.#inPhonetic = true;
  }

  close(local: string): void {
    if (local === 't') this.#inText = false;
    else if (local === 'rPh') this.#inPhonetic = false;
  }

  text(raw: string): void {
    if (this.#inText && !this.#inPhonetic) this.#raw += raw;
  }

  take(): string {
    const raw = this.#raw;
    this.#raw = '';
    return raw;
  }
}
