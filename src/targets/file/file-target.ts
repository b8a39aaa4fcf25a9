import { LeadsyncError } from '../../errors.ts';
import type {
  MarkToWrite,
  Place,
  RowChange,
  RowOutcome,
  Target,
  TargetRow,
  TargetSnapshot,
} from '../../ports/target.ts';
import { goneFault } from '../shared/gone-fault.ts';
import { AddedRows } from './added-rows.ts';
import { assertNotOpenInEditor } from './editor-lock.ts';
import { lockFile } from './file-lock.ts';
import { filePlace, isFileLeft } from './file-place.ts';
import type { FileFormat, FilePlan } from './file-format.ts';
import { removeLeftovers, replaceFile, whyReadOnly } from './replace-file.ts';
import {
  digestOf,
  followLinks,
  isOfHalfWritten,
  openSource,
  type SourceFile,
  versionOf,
} from './source-file.ts';

interface Replacement<T> extends Pick<FilePlan, 'content' | 'written'> {
  readonly result: T;
}

/** Attempts of a write when somebody changes the file meanwhile. */
const passes = 3;

/** A target that is one file; replaced only as a whole, and never over somebody else's change. */
export class FileTarget implements Target {
  readonly name: string;
  readonly #format: FileFormat;
  /** When last seen. */
  #bytes = 0;
  #requests = 0;
  /** Since the rows were last read. */
  #added = new AddedRows(null);

  /** @param path absolute; a symbolic link stays one */
  constructor(path: string, format: FileFormat) {
    this.name = path;
    this.#format = format;
  }

  get batchSize(): number {
    return this.#format.batchSize(this.#bytes);
  }

  get requests(): number {
    return this.#requests;
  }

  async open(
    { create, newFields = [], wasFilled = false }: Parameters<Target['open']>[0],
    signal: AbortSignal,
  ): Promise<TargetSnapshot> {
    const path = await this.#unopenedPath();
    await using found = await this.#openContent(path);
    if (found === null && wasFilled) await this.#refuseEmptied(path);
    if (found === null && !create) return { missing: [], created: false, rows: noRows() };
    const created = found === null && (await this.#createFile(path));
    await using made = found === null ? await this.#openContent(path) : null;
    const file = found ?? made;
    if (file === null) throw this.#changed();
    const head = await this.#format.readHead(file, signal).catch(async (error: unknown) => {
      throw await this.#faultOf(error, file);
    });
    const toMake = head.missing.filter(
      ({ field, isDoubled }) => isDoubled !== true && newFields.includes(field),
    );
    if (create && toMake.length > 0) {
      const fields = new Set(toMake.map(({ field }) => field));
      await this.#replace(path, signal, async (whole) => ({
        result: null,
        content: await this.#format.planColumns(whole, fields, signal),
      }));
      return await this.open({ create }, signal);
    }
    return { ...head, created, rows: this.#rows(path, file, signal) };
  }

  place(signal: AbortSignal): Promise<Place> {
    return filePlace(this.name, this.#format, signal);
  }

  isLeft(place: Pick<Place, 'id' | 'address'>, signal: AbortSignal): Promise<boolean> {
    return isFileLeft(place, this.name, this.#format, signal);
  }

  async version(): Promise<string | null> {
    const path = await this.#unopenedPath();
    await using file = await openSource(path);
    return file === null || (await this.#format.isEmpty(file)) ? null : versionOf(file.stat);
  }

  async digest(signal: AbortSignal): ReturnType<NonNullable<Target['digest']>> {
    const path = await this.#unopenedPath();
    await using file = await this.#openContent(path);
    if (file === null) return null;
    // Rows without id say why they can get none, so whether the file is read-only counts.
    const digest = await digestOf(file, (await whyReadOnly(path)) ?? '', signal);
    return (await file.isCurrent()) ? { digest, version: versionOf(file.stat) } : null;
  }

  async write(
    changes: readonly RowChange[],
    signal: AbortSignal,
    mark?: MarkToWrite,
  ): Promise<readonly RowOutcome[]> {
    if (changes.length === 0) return [];
    const path = await this.#unopenedPath();
    const { outcomes, isMarked } = await this.#replace(path, signal, async (file) => {
      const plan = await this.#format.plan(file, changes, signal, mark?.text);
      if (plan.content === null) return { ...plan, result: plan };
      return { ...this.#added.see(file, plan.content, plan.written), result: plan };
    });
    this.#added.count(outcomes);
    if (isMarked === true) mark?.arrived();
    return outcomes;
  }

  async addedRows(signal: AbortSignal): Promise<number> {
    await using file = await this.#openContent(await this.#unopenedPath());
    return file === null ? 0 : await this.#added.stillThere(file, signal);
  }

  /** Writes the planned content; plans again when somebody changed the file meanwhile. */
  async #replace<T>(
    path: string,
    signal: AbortSignal,
    plan: (file: SourceFile) => Promise<Replacement<T>>,
  ): Promise<T> {
    await using lock = await lockFile(path);
    await removeLeftovers(path);
    for (let pass = 0; pass < passes; pass++) {
      await using file = await this.#openContent(path);
      if (file === null) break;
      const mayReplace = async (): Promise<boolean> => {
        signal.throwIfAborted();
        await assertNotOpenInEditor(path);
        await lock.assertHeld();
        return file.isCurrent();
      };
      try {
        const { result, content, written } = await plan(file);
        if (content === null && (await file.isCurrent())) return result;
        if (content === null) continue;
        this.#requests++;
        const replaced = await replaceFile({ path, original: file.stat, content, mayReplace });
        if (replaced === null) continue;
        if (replaced.left !== null) {
          this.#bytes = Number(replaced.left.size);
          written?.(versionOf(replaced.left));
        }
        return result;
      } catch (error) {
        if (!(await isOfHalfWritten(error, file))) throw error;
      }
    }
    throw this.#changed();
  }

  async *#rows(path: string, seen: SourceFile, signal: AbortSignal): AsyncGenerator<TargetRow[]> {
    this.#added = new AddedRows(versionOf(seen.stat));
    if (!(await seen.isCurrent())) throw this.#changed();
    await using file = await this.#openContent(path);
    if (file === null) throw this.#changed();
    try {
      const idClosed = await whyReadOnly(path);
      for await (const rows of this.#format.readRows(file, signal))
        yield idClosed === null
          ? rows
          : rows.map((row) => (row.leadId === null ? { ...row, idClosed } : row));
    } catch (error) {
      throw await this.#faultOf(error, file);
    }
    if (!(await file.isCurrent()) || !(await seen.isCurrent())) throw this.#changed();
  }

  /** False: another process created the file first. */
  async #createFile(path: string): Promise<boolean> {
    await using lock = await lockFile(path);
    await removeLeftovers(path);
    this.#requests++;
    await using empty = await openSource(path);
    const mayReplace = async (): Promise<boolean> => {
      await using now = await this.#openContent(path);
      await lock.assertHeld();
      return now === null;
    };
    const [original, content] = [empty?.stat ?? null, this.#format.newContent()];
    return (await replaceFile({ path, original, content, mayReplace })) !== null;
  }

  /** An empty file that had rows is never filled again: a share may not be mounted, a program may have crashed. */
  async #refuseEmptied(path: string): Promise<void> {
    await using file = await openSource(path);
    if (file === null) throw goneFault(this.name);
    const message = `${this.name} is empty, but had rows before. Nothing was written.`;
    throw new LeadsyncError('target.emptied', message, {
      retry: 'later',
      help: 'Restore the file. To fill it again, delete it and sync with --allow target-gone.',
    });
  }

  /** Null when the file is missing or empty. */
  async #openContent(path: string): Promise<SourceFile | null> {
    const file = await openSource(path);
    this.#requests++;
    this.#bytes = Number(file?.stat.size ?? 0);
    if (file === null) return null;
    if (!(await this.#format.isEmpty(file))) return file;
    await file[Symbol.asyncDispose]();
    return null;
  }

  async #unopenedPath(): Promise<string> {
    const path = await followLinks(this.name);
    await assertNotOpenInEditor(this.name);
    if (path !== this.name) await assertNotOpenInEditor(path);
    return path;
  }

  async #faultOf(error: unknown, file: SourceFile): Promise<unknown> {
    return (await isOfHalfWritten(error, file)) ? this.#changed() : error;
  }

  #changed(): LeadsyncError {
    const message = `${this.name} was changed while it was read or written. Nothing was written.`;
    return new LeadsyncError('target.changed', message, { retry: 'now' });
  }
}

async function* noRows(): AsyncGenerator<TargetRow[]> {}
