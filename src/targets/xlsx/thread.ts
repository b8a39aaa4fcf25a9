import type { FileTableOptions } from '../file/file-format.ts';
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { codeOf, LeadsyncError } from '../../lib/errors.ts';
import { type SourceFile, watchedAccess } from '../file/file-place.ts';
import { xlsxFaults } from './fault.ts';
import { doXlsxTask, type XlsxResults, type XlsxTask } from './task.ts';

/** From this packed size on (bytes) a thread is worth its start. */
const threadBytes = 256 * 1024;
/** A thread's heap limit; texts and packed bytes are not in it. Sheets of any length need far less. */
const threadMegabytes = 512;

export interface ThreadData {
  readonly fd: number;
  readonly size: number;
  readonly options: FileTableOptions;
  readonly task: XlsxTask;
}

/** A thread's answer to each `next`. */
export type ThreadAnswer =
  | { readonly next: IteratorResult<XlsxResults[XlsxTask['kind']], void> }
  | { readonly fault: Pick<LeadsyncError, 'code' | 'message' | 'help' | 'retry'> };

/** Does the task without blocking the event loop: large files in a thread, small or known ones here in steps. */
export function runXlsxTask<Kind extends XlsxTask['kind']>(
  file: SourceFile,
  options: FileTableOptions,
  task: Extract<XlsxTask, { kind: Kind }>,
  signal: AbortSignal,
): AsyncGenerator<XlsxResults[Kind]> {
  const isKnown = 'known' in task && task.known !== null;
  const results =
    file.size < threadBytes || isKnown
      ? doXlsxTask(watchedAccess(file, signal), options, task)
      : inThread({ fd: file.fd, size: file.size, options, task }, signal);
  return results as AsyncGenerator<XlsxResults[Kind]>;
}

async function* inThread(
  workerData: ThreadData,
  signal: AbortSignal,
): AsyncGenerator<XlsxResults[XlsxTask['kind']]> {
  const worker = new Worker(new URL('./worker.ts', import.meta.url), {
    workerData,
    resourceLimits: { maxOldGenerationSizeMb: threadMegabytes },
  });
  try {
    for (;;) {
      signal.throwIfAborted();
      // oxlint-disable-next-line unicorn/require-post-message-target-origin -- this is a thread, not a window
      worker.postMessage('next');
      // `once` also rejects when the thread fails.
      const [answer] = (await once(worker, 'message', { signal })) as [ThreadAnswer];
      if ('fault' in answer) throw faultOf(answer.fault);
      if (answer.next.done === true) return;
      yield answer.next.value;
    }
  } catch (error) {
    if (!isOutOfMemory(error)) throw error;
    throw xlsxFaults(workerData.options.name)(
      `needs more than the ${threadMegabytes} MB of memory that a workbook may use`,
      undefined,
      error,
    );
  } finally {
    // The thread must not read from a closed file.
    await worker.terminate();
  }
}

function faultOf({ code, message, help, retry }: Extract<ThreadAnswer, { fault: unknown }>['fault']) {
  return new LeadsyncError(code, message, { retry, ...(help !== undefined && { help }) });
}

function isOutOfMemory(error: unknown): boolean {
  return codeOf(error) === 'ERR_WORKER_OUT_OF_MEMORY';
}
