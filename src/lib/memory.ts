import { totalmem } from 'node:os';
import { getHeapStatistics } from 'node:v8';

/** What the process needs beside records (bytes). */
const beside = 200 * 1024 ** 2;

/** The part of the rest that records may take. */
const part = 0.6;

/** What they may take however little there is: a place of 10,000 leads does no harm. */
const least = 4 * 1024 ** 2;

/** Bytes that all who hold records in memory share. */
export class ByteBudget {
  /** Bytes that the process may use. */
  readonly memory: number;
  readonly limit: number;
  #taken = 0;

  constructor(memory = memoryOfProcess(), limit = Math.max(least, (memory - beside) * part)) {
    this.memory = memory;
    this.limit = limit;
  }

  get left(): number {
    return this.limit - this.#taken;
  }

  /** False, and nothing is taken, when there are not as many. */
  take(bytes: number): boolean {
    if (bytes > this.left) return false;
    this.#taken += bytes;
    return true;
  }

  give(bytes: number): void {
    this.#taken -= bytes;
  }
}

/** Of the container, where there is one. */
function memoryOfProcess(): number {
  const total = totalmem();
  const constrained = process.constrainedMemory();
  return constrained > 0 && constrained < total ? constrained : total;
}

/** That of this process. */
export const memoryBudget = new ByteBudget();

/** Bytes that may be held of what is read as a whole: it is there once, and copied in parts. Node takes its heap from the memory of the container. */
export const mostWhole = getHeapStatistics().heap_size_limit / 4;
