import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { LeadsyncError, type Retry } from '../../errors.ts';
import { watchedAccess, type SourceFile } from '../file/source-file.ts';
import { xlsxFaults } from './fault.ts';
import { doXlsxJob, type XlsxJob, type XlsxResult } from './task.ts';

/** From this size on (bytes, packed) reading takes long enough to be worth a thread of its own. */
const threadBytes = 256 * 1024;
/** What a thread may take for objects; texts and packed bytes come on top. A sheet of any length needs far less. */
const threadMegabytes = 512;

/** What the thread is given, and what it answers to each `next`. */
export interface ThreadJob {
  readonly fd: number;
  readonly size: number;
  readonly job: XlsxJob;
}
export type ThreadAnswer =
  | { readonly kind: 'result'; readonly result: XlsxResult }
  | { readonly kind: 'end' }
  | {
      readonly kind: 'fault';
      readonly code: string;
      readonly message: string;
      readonly help: string | undefined;
      readonly retry: Retry;
    };

/** Does the job without holding up the event loop: a large file is read in a thread, a small or known one here, bit by bit. */
export function runXlsxJob(file: SourceFile, job: XlsxJob, signal: AbortSignal): AsyncGenerator<XlsxResult> {
  const isKnown = job.task.kind === 'plan' && job.task.known !== null;
  return file.stat.size < threadBytes || isKnown
    ? doXlsxJob(watchedAccess(file, signal), job)
    : inThread({ fd: file.fd, size: Number(file.stat.size), job }, signal);
}

async function* inThread(workerData: ThreadJob, signal: AbortSignal): AsyncGenerator<XlsxResult> {
  const worker = new Worker(new URL('./worker.ts', import.meta.url), {
    workerData,
    resourceLimits: { maxOldGenerationSizeMb: threadMegabytes },
  });
  try {
    for (;;) {
      signal.throwIfAborted();
      // oxlint-disable-next-line unicorn/require-post-message-target-origin -- this is a thread, not a window
      worker.postMessage('next');
      const answer = await answerOf(worker, signal);
      if (answer.kind === 'end') return;
      if (answer.kind === 'fault') throw new LeadsyncError(answer.code, answer.message, faultOptions(answer));
      yield answer.result;
    }
  } catch (error) {
    if (!isOutOfMemory(error)) throw error;
    throw xlsxFaults(workerData.job.name)('needs more memory than a workbook may', undefined, error);
  } finally {
    // Before the caller closes the file: the thread reads from it.
    await worker.terminate();
  }
}

async function answerOf(worker: Worker, signal: AbortSignal): Promise<ThreadAnswer> {
  // `once` also fails when the thread does.
  const [answer] = (await once(worker, 'message', { signal })) as [ThreadAnswer];
  return answer;
}

function faultOptions({ help, retry }: Extract<ThreadAnswer, { kind: 'fault' }>) {
  return help === undefined ? { retry } : { retry, help };
}

function isOutOfMemory(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ERR_WORKER_OUT_OF_MEMORY';
}
