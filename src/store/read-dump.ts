import { z } from 'zod';
import { LeadsyncError } from '../lib/errors.ts';
import { type DumpHeader, dumpFormat, endOfRows } from './dump.ts';

/** Names as the schema has them: they become part of a statement. */
const name = z.string().regex(/^[a-z_]+$/);
const column = z.string().regex(/^"?[a-z_]+"?$/);
const header = z.object({
  format: z.literal(dumpFormat),
  leadsync: z.string(),
  at: z.iso.datetime(),
  migrations: z.array(z.object({ name: z.string(), checksum: z.string() })),
  sequences: z.record(name, z.number().int()),
  isMove: z.boolean().default(false),
});
const table = z.object({ table: name, columns: z.array(column) });
const end = z.object({ rows: z.record(name, z.number().int()) });

/** The rows of a table, which are to be read to their end before anything else. */
interface DumpTable {
  readonly table: string;
  readonly columns: readonly string[];
  readonly rows: AsyncIterable<Buffer>;
}

/** The longest line that is none of rows. */
const longestLine = 1_000_000;
const terminator = Buffer.from(`\n${endOfRows}\n`);

/**
 * What `dumpState` has written, part by part. Each throws `usage.backup-broken` for anything else, and for a backup that ends
 * too early.
 */
export class DumpReader {
  readonly #source: AsyncIterator<Buffer>;
  #rest: Buffer = Buffer.alloc(0);

  constructor(source: AsyncIterable<Buffer>) {
    this.#source = source[Symbol.asyncIterator]();
  }

  async header(): Promise<DumpHeader> {
    return parsed(header, await this.#line());
  }

  /** Each table, and at last how many rows each should have had. */
  async next(): Promise<DumpTable | z.infer<typeof end>> {
    const found = parsed(z.union([table, end]), await this.#line());
    if ('table' in found) return { ...found, rows: this.#rows() };
    // The sum of the file is checked where it ends.
    if (this.#rest.length > 0 || (await this.#more())) throw broken('data follows its end');
    return found;
  }

  /** Lets go of the source, wherever it is: a database that is read has a connection open for it. */
  async close(): Promise<void> {
    await this.#source.return?.();
  }

  async #line(): Promise<string> {
    for (;;) {
      const at = this.#rest.indexOf('\n');
      if (at >= 0) {
        const text = this.#rest.toString('utf8', 0, at);
        this.#rest = this.#rest.subarray(at + 1);
        return text;
      }
      if (this.#rest.length > longestLine) throw broken('its first line is too long');
      if (!(await this.#more())) throw broken('it ends too early');
    }
  }

  async *#rows(): AsyncGenerator<Buffer, void> {
    // With the end of the line before them, so that the terminator is the same after no rows at all.
    this.#rest = Buffer.concat([Buffer.from('\n'), this.#rest]);
    let skip = 1;
    for (;;) {
      const at = this.#rest.indexOf(terminator);
      const until = at >= 0 ? at + 1 : this.#rest.length - terminator.length + 1;
      if (until > skip) {
        yield this.#rest.subarray(skip, until);
        this.#rest = this.#rest.subarray(until);
        skip = 0;
      }
      if (at >= 0) {
        this.#rest = this.#rest.subarray(skip + terminator.length - 1);
        return;
      }
      if (!(await this.#more())) throw broken('it ends too early');
    }
  }

  async #more(): Promise<boolean> {
    const next: IteratorResult<Buffer, unknown> = await this.#source.next();
    if (next.done === true) return false;
    const { value } = next;
    this.#rest = this.#rest.length === 0 ? value : Buffer.concat([this.#rest, value]);
    return true;
  }
}

/** The backup is incomplete, or none. */
export function broken(why: string, cause?: unknown): LeadsyncError {
  return new LeadsyncError(
    'usage.backup-broken',
    `This is not a complete leadsync backup: ${why}. Nothing was changed`,
    {
      help: 'Restore another backup: one file, as leadsync backup wrote it.',
      cause,
    },
  );
}

function parsed<T>(schema: z.ZodType<T>, text: string): T {
  try {
    return schema.parse(JSON.parse(text));
  } catch (cause) {
    // The cause may quote the data.
    if (cause instanceof SyntaxError || cause instanceof z.ZodError) throw broken('it has other content');
    throw cause;
  }
}
