import { createHash } from 'node:crypto';
import { IdSet } from '../../core/lead/id-set.ts';
import { LeadsyncError } from '../../lib/errors.ts';
import type {
  CopyBeside,
  MarkToWrite,
  OnAsides,
  Place,
  RowChange,
  RowOutcome,
  Target,
  TargetRow,
  TargetSnapshot,
} from '../../ports/target.ts';
import { goneFault } from '../shared/gone-fault.ts';
import type { FileFormat, FilePlan } from './file-format.ts';
import {
  hashOf,
  type FileLocation,
  type FilePlace,
  type FileWriter,
  isOfHalfWritten,
  type SourceFile,
} from './file-place.ts';

interface Replacement<T> extends Pick<FilePlan, 'content' | 'written'> {
  readonly result: T;
}

/** Attempts of a write when somebody changes the file meanwhile. */
const passes = 3;
/** Changes per upload: the most that any format takes into memory at once. */
const uploadedChanges = 20_000;

/** A target that is one file; replaced only as a whole, and never over somebody else's change. */
export class FileTarget implements Target {
  readonly name: string;
  readonly #place: FilePlace;
  readonly #format: FileFormat;
  #bytes = 0;
  #requests = 0;
  /** Since the rows were last read, or recognised. */
  #own = new OwnWrites(null);

  constructor(place: FilePlace, format: FileFormat) {
    this.name = place.name;
    this.#place = place;
    this.#format = format;
  }

  get batchSize(): number {
    return this.#place.isUploaded ? uploadedChanges : this.#format.batchSize(this.#bytes);
  }

  get requests(): number {
    return this.#requests;
  }

  async open(
    { create, newFields = [], wasFilled = false, onAsides = ignored }: Parameters<Target['open']>[0],
    signal: AbortSignal,
  ): Promise<TargetSnapshot> {
    const location = await this.#unopened(signal);
    await using found = await this.#openContent(location, signal);
    if (found === null && wasFilled) await this.#refuseEmptied(location, signal);
    if (found === null && !create) return { missing: [], created: false, rows: noRows() };
    const created = found === null && (await this.#createFile(location, signal));
    await using made = found === null ? await this.#openContent(location, signal) : null;
    const file = found ?? made;
    if (file === null) throw this.#changed();
    const head = await this.#format.readHead(file).catch(async (error: unknown) => {
      throw await this.#faultOf(error, file);
    });
    const toMake = head.missing.filter(
      ({ field, isDoubled }) => isDoubled !== true && newFields.includes(field),
    );
    if (create && toMake.length > 0) {
      const fields = new Set(toMake.map(({ field }) => field));
      await this.#replace(location, signal, async (whole) => ({
        result: null,
        content: await this.#format.planColumns(whole, fields),
      }));
      return await this.open({ create, onAsides }, signal);
    }
    return { ...head, created, rows: this.#rows(location, file, signal, onAsides) };
  }

  place(signal: AbortSignal): Promise<Place> {
    return partPlace(this.#place, this.#format, signal);
  }

  isLeft(place: Pick<Place, 'id' | 'address'>, signal: AbortSignal): Promise<boolean> {
    return isPartLeft(place, this.#place, this.#format, signal);
  }

  async assertWritable(signal: AbortSignal): Promise<string> {
    const location = await this.#place.locate(signal);
    const how = await location.assertWritable(signal);
    const isThere = (await location.look(signal)) !== null;
    return [how, isThere ? '' : 'there is no such file yet: the first sync makes it']
      .filter((text) => text !== '')
      .join('; ');
  }

  async conflictCopies(signal: AbortSignal): Promise<readonly CopyBeside[]> {
    const location = await this.#place.locate(signal);
    return (await location.conflictCopies?.()) ?? [];
  }

  async version(signal: AbortSignal): Promise<string | null> {
    const location = await this.#unopened(signal);
    const state = await location.look(signal);
    if (state === null || !this.#format.mayBeEmpty(state.size)) return state?.version ?? null;
    await using file = await location.open(signal);
    return file === null || (await this.#format.isEmpty(file)) ? null : file.version;
  }

  async contentTag(signal: AbortSignal): ReturnType<NonNullable<Target['contentTag']>> {
    const location = await this.#unopened(signal);
    // Rows without id say why they can get none, so whether the file is read-only counts.
    const more = (await location.whyReadOnly?.()) ?? '';
    const state = await location.look(signal);
    if (state === null || state.size === 0) return null;
    this.#own = new OwnWrites(state.version);
    if (state.contentTag !== null)
      return { contentTag: `${state.contentTag} ${more}`, version: state.version, from: 'server' };
    await using file = await this.#openContent(location, signal);
    if (file === null) return null;
    const contentTag = await hashOf(file, more);
    return (await file.isCurrent()) ? { contentTag, version: file.version, from: 'content' } : null;
  }

  async notStorable(signal: AbortSignal): ReturnType<NonNullable<Target['notStorable']>> {
    await using file = await this.#openContent(await this.#unopened(signal), signal);
    return await this.#format.notStorable(file);
  }

  async write(
    changes: readonly RowChange[],
    signal: AbortSignal,
    mark?: MarkToWrite,
  ): Promise<readonly RowOutcome[]> {
    if (changes.length === 0) return [];
    const location = await this.#unopened(signal);
    const { outcomes, isMarked } = await this.#replace(location, signal, async (file) => {
      const plan = await this.#format.plan(file, changes, mark?.text);
      return { ...this.#own.see(file, plan), result: plan };
    });
    this.#own.count(changes, outcomes);
    if (isMarked === true) mark?.arrived();
    return outcomes;
  }

  async standingWrites(signal: AbortSignal): Promise<number> {
    await using file = await this.#openContent(await this.#unopened(signal), signal);
    return file === null ? 0 : await this.#own.standing(file);
  }

  /** The file as it is, even empty; null: missing. */
  protected async openFile(signal: AbortSignal): Promise<SourceFile | null> {
    const location = await this.#place.locate(signal);
    return location.open(signal);
  }

  /** Writes the planned content; plans again when somebody changed the file meanwhile. */
  async #replace<T>(
    location: FileLocation,
    signal: AbortSignal,
    plan: (file: SourceFile) => Promise<Replacement<T>>,
  ): Promise<T> {
    await using writer = await location.startWriting(signal);
    for (let pass = 0; pass < passes; pass++) {
      await using file = await this.#openContent(location, signal);
      if (file === null) break;
      try {
        const { result, content, written } = await plan(file);
        if (content === null && (await file.isCurrent())) return result;
        if (content === null) continue;
        const replaced = await this.#put(writer, file, content, signal);
        if (replaced === null) continue;
        if (replaced.left !== null) {
          this.#bytes = replaced.left.size;
          written?.(replaced.left.version);
        }
        return result;
      } catch (error) {
        if (!(await isOfHalfWritten(error, file))) throw error;
      }
    }
    throw this.#changed();
  }

  #put(writer: FileWriter, ...[original, content, signal]: Parameters<FileWriter['replace']>) {
    this.#requests++;
    return writer.replace(original, content, signal);
  }

  async *#rows(
    location: FileLocation,
    seen: SourceFile,
    signal: AbortSignal,
    onAsides: OnAsides,
  ): AsyncGenerator<TargetRow[]> {
    this.#own = new OwnWrites(seen.version);
    if (!(await seen.isCurrent())) throw this.#changed();
    await using file = await this.#openContent(location, signal);
    if (file === null) throw this.#changed();
    try {
      const idClosed = (await location.whyReadOnly?.()) ?? null;
      for await (const rows of this.#format.readRows(file, onAsides))
        yield idClosed === null
          ? rows
          : rows.map((row) => (row.leadId === null ? { ...row, idClosed } : row));
    } catch (error) {
      throw await this.#faultOf(error, file);
    }
    if (!(await file.isCurrent()) || !(await seen.isCurrent())) throw this.#changed();
  }

  /** False: another process created the file first. */
  async #createFile(location: FileLocation, signal: AbortSignal): Promise<boolean> {
    await using writer = await location.startWriting(signal);
    await using empty = await location.open(signal);
    if (empty !== null && !(await this.#format.isEmpty(empty))) return false;
    return (await this.#put(writer, empty, this.#format.newContent(empty), signal)) !== null;
  }

  /** An empty file that had rows is never filled again: a share may not be mounted, a program may have crashed. */
  async #refuseEmptied(location: FileLocation, signal: AbortSignal): Promise<void> {
    if ((await location.look(signal)) === null) throw goneFault(this.name);
    const message = `${this.name} is empty, but had rows before. Nothing was written.`;
    throw new LeadsyncError('target.emptied', message, {
      retry: 'later',
      help: 'Restore the file. To fill it again, delete it and sync with --allow target-gone.',
    });
  }

  /** Null when the file is missing or empty. */
  async #openContent(location: FileLocation, signal: AbortSignal): Promise<SourceFile | null> {
    const file = await location.open(signal);
    this.#requests++;
    this.#bytes = file?.size ?? 0;
    if (file === null) return null;
    await using refused = new AsyncDisposableStack();
    refused.use(file);
    if (await this.#format.isEmpty(file)) return null;
    refused.move();
    return file;
  }

  async #unopened(signal: AbortSignal): Promise<FileLocation> {
    const location = await this.#place.locate(signal);
    await location.assertNotOpen(signal);
    return location;
  }

  async #faultOf(error: unknown, file: SourceFile): Promise<unknown> {
    return (await isOfHalfWritten(error, file)) ? this.#changed() : error;
  }

  #changed(): LeadsyncError {
    const message = `${this.name} was changed while it was read or written. Nothing was written.`;
    return new LeadsyncError('target.changed', message, { retry: 'now' });
  }
}

const ignored: OnAsides = () => undefined;

async function* noRows(): AsyncGenerator<TargetRow[]> {}

type Parts = Pick<FileFormat, 'part' | 'hasPart'>;

/** Separates the file from the part: the identity of a file has no line end. */
const partMark = '\n';

async function partPlace(place: FilePlace, format: Parts, signal: AbortSignal): Promise<Place> {
  const location = await place.locate(signal);
  await using file = await location.open(signal);
  const isThere = file !== null && (await format.hasPart(file));
  return { ...partAt(location, place.name, format), isThere };
}

/** Whether a file or its part is gone, or its configured name, a link, leads elsewhere now. */
async function isPartLeft(
  { id, address }: Pick<Place, 'id' | 'address'>,
  place: FilePlace,
  format: Parts,
  signal: AbortSignal,
): Promise<boolean> {
  const [fileId = '', part = ''] = id.split(partMark);
  const former = place.formerly(fileId);
  if (former === null) return false;
  const location = await place.locate(signal);
  const here = partAt(location, place.name, format);
  if (id === here.id) return false;
  if (address === here.address) return true;
  await using file = await (await former.locate(signal)).open(signal);
  if (file === null) return true;
  if (part === '' || format.part === '') return location.id === fileId;
  return !(await format.hasPart(file, part));
}

function partAt(location: FileLocation, name: string, { part }: Parts): Pick<Place, 'id' | 'address'> {
  return {
    id: part === '' ? location.id : location.id + partMark + part.normalize('NFC').trim().toLowerCase(),
    address: part === '' ? name : `${name} (${part})`,
  };
}

class OwnWrites {
  /** As read, or as the last write left the file; null: others may have written since the reading. */
  #version: string | null;
  /** As the last write left it; null: no write. */
  #hash: string | null = null;
  /** Keys of the changes: one may be repeated. */
  readonly #keys = new IdSet();
  #count = 0;

  /** @param version of the file whose rows were read; null: not read, nothing is certain */
  constructor(version: string | null) {
    this.#version = version;
  }

  /** Wraps new content and its `written` callback, which records the file's version; until then nothing is known of the file. */
  see(file: SourceFile, { content, written: also }: FilePlan): Pick<FilePlan, 'content' | 'written'> {
    const isOurs = this.#version === file.version;
    if (content !== null || !isOurs) this.#version = null;
    if (content === null) return { content };
    const hash = createHash('sha256');
    const hashed = async function* (): AsyncGenerator<Buffer> {
      for await (const chunk of content) {
        hash.update(chunk);
        yield chunk;
      }
    };
    const written = (version: string): void => {
      also?.(version);
      if (isOurs) [this.#version, this.#hash] = [version, hash.digest('hex')];
    };
    return { content: hashed(), written };
  }

  /** Counts each change of data that was made once. */
  count(changes: readonly RowChange[], outcomes: readonly RowOutcome[]): void {
    for (const [nth, { key, status }] of outcomes.entries()) {
      const change = changes[nth];
      // Done, too, when a person has edited the row since an earlier attempt.
      const isVague = change?.kind === 'link' && change.isRepeated === true;
      if (status !== 'done' || change?.kind === 'status' || isVague || this.#keys.mayHave(key)) continue;
      this.#keys.add(key);
      this.#count += 1;
    }
  }

  /** The count, if the file is byte for byte as the last write left it; else 0. */
  async standing(file: SourceFile): Promise<number> {
    if (this.#version === null || this.#hash === null) return 0;
    const isSame = (await hashOf(file, '')) === this.#hash;
    return isSame && (await file.isCurrent()) ? this.#count : 0;
  }
}
