/**
 * A process that syncs: its argument is JSON of `{ database, life, end }`. It dies by SIGKILL at `end`; when that is null, or never
 * comes, it prints the names of all its side effects as JSON, in order.
 */
import { openDatabase } from '../../src/store/database.ts';
import { type LifeOptions, live } from './crash-life.ts';
import { type CrashPoint, CrashPoints } from './crash-points.ts';

const argument = JSON.parse(process.argv[2] ?? '') as {
  readonly database: string;
  readonly life: LifeOptions;
  readonly end: CrashPoint | null;
};
const points = new CrashPoints(argument.end);
points.watchFolders();
const pool = openDatabase({ connectionString: argument.database });
await live(argument.life, pool, points);
await pool.end();
console.log(JSON.stringify(points.names));
