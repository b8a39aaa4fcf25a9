import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { settings } from '../../src/config/settings.ts';

const folder = join(import.meta.dirname, '../../deploy/systemd');

/** The lines of a unit; `shown` adds those that are there as comments. */
function lines(unit: string, shown = false): string[] {
  const text = readFileSync(join(folder, unit), 'utf8');
  return (shown ? text.replaceAll(/^#(?=\w+=)/gm, '') : text)
    .split('\n')
    .filter((line) => /^\w+=/.test(line));
}

/** What the lines from `User=` on say: rights, folders, secrets. */
const rights = (unit: string): string[] =>
  lines(unit).slice(lines(unit).findIndex((line) => line.startsWith('User=')));

test('the worker and the single sync have the same rights, and write nowhere but in their own folder', () => {
  const own = rights('leadsync.service').filter((line) => !line.startsWith('WantedBy='));
  expect(rights('leadsync-sync.service')).toEqual(own);
  expect(own).toEqual(
    expect.arrayContaining(['ProtectSystem=strict', 'NoNewPrivileges=yes', 'CapabilityBoundingSet=']),
  );
});

test.each(['leadsync.service', 'leadsync-sync.service'])(
  '%s sets what leadsync takes, secrets by file',
  (unit) => {
    const shown = lines(unit, true);
    const set = shown.flatMap((line) => /^Environment=(.*)$/.exec(line)?.[1]?.split(' ') ?? []);
    const variables = set
      .map((each) => each.split('=')[0] ?? '')
      .filter((name) => name !== 'LEADSYNC_CONFIG');
    const known = settings.flatMap(({ variable, secret }) =>
      variable === undefined ? [] : [secret === true ? `${variable}_FILE` : variable],
    );
    expect(variables.filter((name) => !known.includes(name))).toEqual([]);
    // %d is the folder into which systemd puts what LoadCredential names.
    const loaded = shown.flatMap((line) => /^LoadCredential=([\w-]+):/.exec(line)?.[1] ?? []);
    const read = set.flatMap((each) => /^\w+_FILE=%d\/(.+)$/.exec(each)?.[1] ?? []);
    expect(read).toEqual(loaded);
    expect(loaded.length).toBeGreaterThan(1);
  },
);
