import { parentPort, workerData } from 'node:worker_threads';
import type { Format } from './customs.ts';
import { simulate, type Trouble } from './nights.ts';
import { SimDatabase } from './sim-database.ts';

/** What a thread is given: the seeds from `first` on, each `step`-th, until n worlds are done. */
export interface Job {
  readonly server: string;
  readonly name: string;
  readonly folder: string;
  readonly first: number;
  readonly step: number;
  readonly worlds: number;
  readonly nights: number;
  readonly on: readonly Trouble[];
  readonly format: Format | undefined;
}

const { server, name, folder, first, step, worlds, nights, on, format } = workerData as Job;
await using database = await SimDatabase.open(server, name);
const play = { folder, ...(format !== undefined && { format }) };
for (let world = 0; world < worlds; world++) {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- this is a thread, not a window
  parentPort?.postMessage(await simulate(database, first + world * step, nights, new Set(on), play));
}
