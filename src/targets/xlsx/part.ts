import type { XlsxFault } from './fault.ts';
import { attribute, readElements, type XmlElements, XmlFault, type XmlHandler, XmlScanner } from './xml.ts';
import { inflated, type RandomAccess, readZipDirectory, type ZipDirectory, type ZipEntry } from './zip.ts';
import { TextDecoder } from 'node:util';
import { decoded } from '../../lib/foreign-text.ts';

/** Maximum unpacked bytes of a sheet, and of any other part; sheets are never kept in memory. */
const largestSheet = 4 * 1024 * 1024 * 1024;
const largestStrings = 512 * 1024 * 1024;
const largestPart = 64 * 1024 * 1024;

/** Characters: more than a reference, or the tag before one. */
const overlap = 200;

export class XlsxPackage {
  readonly file: RandomAccess;
  readonly directory: ZipDirectory;
  readonly fault: XlsxFault;
  readonly #byName: ReadonlyMap<string, ZipEntry>;

  constructor(file: RandomAccess, directory: ZipDirectory, fault: XlsxFault) {
    this.file = file;
    this.directory = directory;
    this.fault = fault;
    this.#byName = new Map(directory.entries.map((entry) => [partKey(entry.name), entry]));
  }

  /** Part names ignore case, and blanks in them are `%20` (ECMA-376 part 2, 6.2.2). */
  find(name: string): ZipEntry | null {
    return this.#byName.get(partKey(name)) ?? null;
  }

  get(name: string): ZipEntry {
    const entry = this.find(name);
    if (entry === null)
      throw this.fault(`is an incomplete workbook: its part ${JSON.stringify(name)} is missing`);
    return entry;
  }

  chunks(entry: ZipEntry): AsyncGenerator<Buffer> {
    return inUtf8(inflated(this.file, entry, largestSheet, this.fault));
  }

  /** Raw, a chunk at a time, each after the end of the one before: nothing short is split. */
  async *texts(entry: ZipEntry): AsyncGenerator<string> {
    let end = '';
    for await (const chunk of this.chunks(entry)) {
      const text = end + chunk.toString('latin1');
      yield text;
      end = text.slice(-overlap);
    }
  }

  /** A part that is small in any workbook. */
  async content(entry: ZipEntry): Promise<Buffer> {
    const chunks: Buffer[] = [];
    for await (const chunk of inUtf8(inflated(this.file, entry, largestPart, this.fault))) chunks.push(chunk);
    return Buffer.concat(chunks);
  }

  async parse<T>(entry: ZipEntry, use: (elements: XmlElements) => T): Promise<T> {
    const content = await this.content(entry);
    return this.guarded(entry, () => use(readElements(content)));
  }

  async scanStrings(entry: ZipEntry, handler: XmlHandler): Promise<void> {
    const scanner = new XmlScanner(handler);
    for await (const chunk of inUtf8(inflated(this.file, entry, largestStrings, this.fault))) {
      this.guarded(entry, () => scanner.write(chunk));
    }
    this.guarded(entry, () => scanner.end());
  }

  guarded<T>(entry: ZipEntry, read: () => T): T {
    try {
      return read();
    } catch (error) {
      if (!(error instanceof XmlFault)) throw error;
      throw this.fault(
        `is damaged: its part ${JSON.stringify(entry.name)} ${error.message}`,
        undefined,
        error,
      );
    }
  }

  /** A part's targets by relationship id, without external ones. */
  async relationships(part: string): Promise<ReadonlyMap<string, Relationship>> {
    const slash = part.lastIndexOf('/') + 1;
    const entry = this.find(`${part.slice(0, slash)}_rels/${part.slice(slash)}.rels`);
    if (entry === null) return new Map();
    return this.parse(entry, (elements) => {
      const found = new Map<string, Relationship>();
      for (const { local, attributes } of elements) {
        if (local !== 'Relationship' || attribute(attributes, 'TargetMode') === 'External') continue;
        const target = attribute(attributes, 'Target') ?? '';
        const type = attribute(attributes, 'Type') ?? '';
        found.set(attribute(attributes, 'Id') ?? '', { type, part: resolvePart(part, target) });
      }
      return found;
    });
  }
}

export interface Relationship {
  readonly type: string;
  /** From the root of the package. */
  readonly part: string;
}

/** Relative to the folder of the naming part (ECMA-376 part 2, 6.5.3). */
function resolvePart(source: string, target: string): string {
  const url = `zip://x/${source}`;
  const plain = target.replaceAll('\\', '/');
  const path = URL.canParse(plain, url) ? new URL(plain, url).pathname : plain;
  return path.replace(/^\/+/, '');
}

function partKey(name: string): string {
  return (decoded(name) ?? name).toLowerCase();
}

const compoundFile = Buffer.from([0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1, 0x1a, 0xe1]);

/** @throws what `fault` makes, for what is no zip: encrypted, .xls, something else. */
export async function openPackage(file: RandomAccess, fault: XlsxFault): Promise<XlsxPackage> {
  const head = await file.read(0, 64 * 1024);
  if (head.subarray(0, compoundFile.length).equals(compoundFile)) {
    if (head.includes(Buffer.from('EncryptedPackage', 'utf16le'))) {
      throw fault(
        'is encrypted with a password',
        'Save it without a password (File, Info, Protect Workbook).',
      );
    }
    throw fault(
      'is an old Excel workbook (.xls), or encrypted with a password',
      'Save it as "Excel workbook (.xlsx)" without a password.',
    );
  }
  if (!head.subarray(0, 2).equals(Buffer.from('PK'))) throw fault('is not an Excel workbook (not a zip)');
  return new XlsxPackage(file, await readZipDirectory(file, fault), fault);
}

/**
 * UTF-16 is converted, with its declaration; anything else passes: XML readers need no third encoding (XML 1.0, 4.3.3).
 * The first chunk must hold the declaration.
 */
async function* inUtf8(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let decoder: TextDecoder | null | undefined;
  for await (const chunk of chunks) {
    const isFirst = decoder === undefined;
    decoder ??= decoderFor(chunk);
    const text = decoder?.decode(chunk, { stream: true });
    if (text === undefined) yield chunk;
    else yield Buffer.from(isFirst ? text.replace(utf16Declared, '$1UTF-8') : text);
  }
}

const utf16Declared = /^(<\?xml[^>]*?encoding\s*=\s*["'])utf-?16[^"']*/i;

function decoderFor(start: Buffer): TextDecoder | null {
  const mark = start.toString('latin1', 0, 2);
  if (mark === '\xff\xfe' || mark === '<\0') return new TextDecoder('utf-16le');
  return mark === '\xfe\xff' || mark === '\0<' ? new TextDecoder('utf-16be') : null;
}
