import { basename, dirname } from 'node:path';
import type { Random } from '../../src/demo/random.ts';
import { type DavFate, type DavHabits, startDavServer } from '../support/dav-server.ts';
import { FaultChances } from './fault-chances.ts';
import { randomDavFaults } from './random-faults.ts';
import type { Ending, StartServer } from './served-file.ts';
import type { Desk } from './table.ts';

/** How a WebDAV server of the simulation behaves, and which file lies there. */
export interface DavSettings {
  readonly ending: Ending;
  readonly habits: DavHabits;
}

/** Servers on which nothing may be lost: with strong ETags, by If-Match or by a rename on a condition. */
export function randomDav(random: Random): DavSettings {
  return {
    ending: random.pick(['csv', 'csv', 'xlsx']),
    habits: random.pick<DavHabits>([{}, { isSilent: true }, { isApache: true }, { isApache: true }]),
  };
}

export const davServer =
  (habits: DavHabits): StartServer =>
  async (file, random, hear) => {
    const server = await startDavServer(dirname(file), habits);
    const path = `/${basename(file)}`;
    const person = new Person(server.origin + path, random);
    const faults = new FaultChances<DavFate>();
    server.fate = async (method, at) => {
      if (person.isAtWork) return null;
      const isStoring = method === 'MOVE' || (method === 'PUT' && at === path);
      return (await hear({ name: method, isStoring })) ?? faults.next();
    };
    return {
      desk: person,
      msgraph: {},
      addressOf: (name) => ({ path: `${server.origin}/${name}` }),
      fail: (chance) => faults.fail(randomDavFaults(chance), chance),
      recover: () => faults.recover(),
      [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
    };
  };

/** The program in which somebody works: it stores only what it has opened, or whatever lies there. */
class Person implements Desk {
  isAtWork = false;
  readonly #url: string;
  readonly #random: Random;
  #opened: string | null = null;

  constructor(url: string, random: Random) {
    this.#url = url;
    this.#random = random;
  }

  async opens(): Promise<void> {
    const { ok, headers } = await this.#ask({ method: 'HEAD' });
    this.#opened = ok ? headers.get('etag') : null;
  }

  async saves(_: string, content: string | Uint8Array): Promise<void> {
    const tag = this.#opened;
    const careful: Record<string, string> = tag === null ? { 'if-none-match': '*' } : { 'if-match': tag };
    const headers = this.#random.below(2) === 0 ? {} : careful;
    const { ok, status } = await this.#ask({ method: 'PUT', headers, body: Buffer.from(content) });
    if (!ok) throw new Error(`the server refuses what a person saves: ${status}`);
    await this.opens();
  }

  async #ask(request: RequestInit): Promise<Response> {
    this.isAtWork = true;
    try {
      return await fetch(this.#url, request);
    } finally {
      this.isAtWork = false;
    }
  }
}
