// Loaded before a worker (node --import): its wall clock goes wrong by as many ms as the file in CHAOS_CLOCK holds. What
// does not shift: timers and performance.now(), which a jump of a real clock leaves alone, too; the times of files; and
// Postgres' and Redis' own clocks.
import { readFileSync } from 'node:fs';

const file = process.env['CHAOS_CLOCK'];
const RealDate = Date;
let shift = 0;
if (file !== undefined) {
  const read = (): void => {
    try {
      shift = Number(readFileSync(file, 'utf8')) || 0;
    } catch {
      // On a disk that is full, or gone, the clock stays as it is.
    }
  };
  read();
  setInterval(read, 100).unref();
}
const realNow = RealDate.now;
const now = (): number => realNow() + shift;
// As on a machine whose clock is wrong, a process may still put another clock in its place.
RealDate.now = now;

globalThis.Date = new Proxy(RealDate, {
  apply: () => new RealDate(now()).toString(),
  construct: (target, args: unknown[], newTarget): Date =>
    Reflect.construct(target, args.length === 0 ? [now()] : args, newTarget) as Date,
});
