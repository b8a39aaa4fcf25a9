import { setTimeout as sleep } from 'node:timers/promises';
import type { Random } from '../../src/demo/random.ts';
import type { SimClock } from './sim-clock.ts';

/** One of several processes that live at once. */
interface Member {
  state: 'running' | 'waiting' | 'blocked';
  /** Not to go on before (epoch ms). */
  notBefore: number;
  go: () => void;
  /** While blocked: the sessions that wait, and whether the statement has ended. */
  pids: () => readonly number[];
  settled: () => boolean;
}

/**
 * Lets exactly one of the processes that live at once go on at a time, up to its next operation; the seed chooses which.
 * One whose statement waits for a lock of another is left alone until the lock is free.
 */
export class Turns {
  readonly #random: Random;
  readonly #clock: SimClock;
  readonly #isBlocked: (pids: readonly number[]) => Promise<boolean>;
  readonly #members: (Member | null)[] = [];
  #choosing = false;

  constructor(random: Random, clock: SimClock, isBlocked: (pids: readonly number[]) => Promise<boolean>) {
    this.#random = random;
    this.#clock = clock;
    this.#isBlocked = isBlocked;
  }

  /** Returns the member's number; all members come before the first one begins. */
  join(): number {
    return (
      this.#members.push({
        state: 'running',
        notBefore: 0,
        go: () => undefined,
        pids: () => [],
        settled: () => true,
      }) - 1
    );
  }

  async leave(number: number): Promise<void> {
    this.#members[number] = null;
    await this.#choose();
  }

  /** Waits for the turn, and for the time. */
  async begin(number: number, notBefore = 0): Promise<void> {
    const member = this.#members[number];
    if (member === null || member === undefined) return;
    if (this.#isAlone()) {
      if (notBefore > this.#clock.now()) this.#clock.pass(notBefore - this.#clock.now());
      return;
    }
    const { promise, resolve } = Promise.withResolvers<void>();
    Object.assign(member, { state: 'waiting', notBefore, go: resolve });
    void this.#choose();
    await promise;
  }

  /** Runs a statement; while it waits for a lock of another member, that one may go on. */
  async during<T>(number: number, pids: () => readonly number[], run: () => Promise<T>): Promise<T> {
    const member = this.#members[number];
    const promise = run();
    if (member === null || member === undefined || this.#isAlone()) return promise;
    const statement = { settled: false };
    const settled = promise.then(
      () => void (statement.settled = true),
      () => void (statement.settled = true),
    );
    while (!statement.settled) {
      await Promise.race([settled, sleep(4)]);
      if (statement.settled || !(await this.#isBlocked(pids()))) continue;
      const turn = Promise.withResolvers<void>();
      Object.assign(member, {
        state: 'blocked',
        notBefore: 0,
        go: turn.resolve,
        pids,
        settled: () => statement.settled,
      });
      void this.#choose();
      await turn.promise;
    }
    return promise;
  }

  #isAlone(): boolean {
    return this.#members.filter((member) => member !== null).length === 1;
  }

  async #choose(): Promise<void> {
    if (this.#choosing) return;
    this.#choosing = true;
    try {
      for (;;) {
        const members = this.#members.filter((member) => member !== null);
        if (members.length === 0 || members.some(({ state }) => state === 'running')) return;
        const free: Member[] = [];
        for (const member of members)
          if (member.state === 'waiting' || (await this.#isFree(member))) free.push(member);
        if (free.length === 0) continue;
        const awake = free.filter(({ notBefore }) => notBefore <= this.#clock.now());
        const [first] = free.toSorted((one, other) => one.notBefore - other.notBefore);
        const next = awake[this.#random.below(awake.length)] ?? first;
        if (next === undefined) return;
        if (next.notBefore > this.#clock.now()) this.#clock.pass(next.notBefore - this.#clock.now());
        next.state = 'running';
        next.go();
        return;
      }
    } finally {
      this.#choosing = false;
    }
  }

  /** Of a blocked one: true when its statement has ended, false when it still waits for a lock. */
  async #isFree(member: Member): Promise<boolean> {
    while (!member.settled()) {
      if (await this.#isBlocked(member.pids())) return false;
      await sleep(1);
    }
    return true;
  }
}
