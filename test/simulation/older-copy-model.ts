/**
 * How often the moment test (docs/which-is-which.md) sees a copy that was put back, and how often it takes people who tidy up
 * for one: the real rule on made-up tables. `npm run simulate:copies -- WORLDS` prints a table in Markdown.
 */
import { createRandom, type Random } from '../../src/demo/random.ts';
import { CopyWorld } from '../support/copy-world.ts';

const worlds = Number(process.argv[2] ?? 300);
const [days, fields] = [30, 7];

interface Office {
  readonly rows: number;
  readonly changesADay: number;
  /** Of all changes, how many are typed in the table. */
  readonly typed: number;
  /** How many of the fields know only four values. */
  readonly choices: number;
}

interface Played {
  readonly world: CopyWorld;
  readonly random: Random;
}

function anyOf<T>(random: Random, items: readonly T[]): T {
  const item = items[random.below(items.length)];
  if (item === undefined) throw new Error('there is none');
  return item;
}

/** A month of nightly syncs: what was typed is there as the run reads the table, all else after it. */
function play({ rows, changesADay, typed, choices }: Office, seed: number): Played {
  const random = createRandom(seed, 'office');
  let nth = 0;
  const value = (field: number): string =>
    field < choices ? random.pick(['a', 'b', 'c', 'd']) : `value ${nth++}`;
  const world = new CopyWorld(rows, fields, (_, field) => value(field));
  for (let day = 1; day <= days; day++) {
    for (let change = 0; change < changesADay; change++) {
      const cell = anyOf(random, world.cells);
      const isTyped = random.below(100) < typed;
      world.move(cell, 2 * day - (isTyped ? 1 : 0), value(Number(cell.split('/')[1])));
    }
  }
  return { world, random };
}

const edit = ({ world, random }: Played, shown: Map<string, string>, count: number): Map<string, string> => {
  for (let nth = 0; nth < count; nth++) shown.set(anyOf(random, world.cells), `an edit ${nth}`);
  return shown;
};

const copy = (played: Played, ago: number): Map<string, string> => played.world.copyOf(2 * (days - ago));

const days4 = (played: Played): Map<string, string> => {
  const { world, random } = played;
  const shown = edit(played, world.copyOf(2 * days), 3);
  const changed = world.cells.filter((cell) => world.earlier(cell) !== undefined);
  for (let nth = 0; nth < 4; nth++) {
    const cell = anyOf(random, changed);
    shown.set(cell, world.earlier(cell) ?? '');
  }
  return shown;
};

const cases: readonly (readonly [string, (played: Played) => Map<string, string>])[] = [
  ['copy of yesterday', (played) => copy(played, 1)],
  ['copy of 3 days ago', (played) => copy(played, 3)],
  ['copy of 10 days ago', (played) => copy(played, 10)],
  ['copy of 3 days ago, five edits typed into it', (played) => edit(played, copy(played, 3), 5)],
  ['saved over from a program open over 2 nights', ({ world }) => world.copyOf(2 * (days - 1) - 1)],
  ['ordinary day: five new edits', (played) => edit(played, played.world.copyOf(2 * days), 5)],
  ['ordinary day: three new edits, four values set back', days4],
];

const offices: readonly (readonly [string, Omit<Office, 'typed'>])[] = [
  ['12 rows, 1 change a day', { rows: 12, changesADay: 1, choices: 0 }],
  ['12 rows, 3 changes a day', { rows: 12, changesADay: 3, choices: 0 }],
  ['300 rows, 6 changes a day', { rows: 300, changesADay: 6, choices: 0 }],
  ['300 rows, 6 changes a day, 3 of 7 fields know 4 values', { rows: 300, changesADay: 6, choices: 3 }],
];

process.stdout.write(`| table | case | typed in the table: 10 % | 50 % | 90 % |\n|---|---|---|---|---|\n`);
for (const [office, settings] of offices) {
  for (const [name, show] of cases) {
    const cells = [10, 50, 90].map((typed) => {
      const counts = { stop: 0, hold: 0, none: 0 };
      for (let seed = 1; seed <= worlds; seed++) {
        const played = play({ ...settings, typed }, 1000 * typed + seed);
        counts[played.world.judge(show(played)).kind] += 1;
      }
      const share = (count: number): number => Math.round((100 * count) / worlds);
      return `${share(counts.stop)} % stopped, ${share(counts.hold)} % held`;
    });
    process.stdout.write(`| ${office} | ${name} | ${cells.join(' | ')} |\n`);
  }
}
