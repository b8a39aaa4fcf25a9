import { expect, test } from 'vitest';
import { Workspace } from '../../support/workspace.ts';

interface Feeds {
  readonly feeds: readonly {
    readonly recipient: string;
    readonly path: string;
    readonly url: string | null;
  }[];
}

test('the addresses of the feeds: listed, replaced for one recipient, and for recipients alone', async () => {
  const reminders = {
    to: ['Anna@example.com'],
    routes: [{ when: { stage: ['new'] }, to: ['ben@example.com'] }],
    timeZone: 'UTC',
  };
  const beside = { publicUrl: 'https://leads.example.com/team' };
  await using workspace = await Workspace.open({ connection: { reminders }, beside });
  const before = (await workspace.cli('status', '--feeds', '--json')).json<Feeds>().feeds;
  expect(before.map(({ recipient }) => recipient)).toEqual(['anna@example.com', 'ben@example.com']);
  for (const { path, url } of before) {
    expect(path).toMatch(/^\/calendar\/[\w-]{43}\.ics$/);
    expect(url).toBe(`https://leads.example.com/team${path}`);
  }
  const replaced = await workspace.cli('status', '--new-feed', 'ANNA@example.com');
  expect(replaced.stdout).toContain('The former address of anna@example.com leads nowhere any more');
  expect(replaced.stdout).not.toContain(before[0]?.path);
  const after = (await workspace.cli('status', '--feeds', '--json')).json<Feeds>().feeds;
  expect(replaced.stdout).toContain(after[0]?.url);
  expect(after[1]).toEqual(before[1]);
  const unknown = await workspace.cli('status', '--new-feed', 'eve@example.com', '--json');
  expect([unknown.code, unknown.json()]).toMatchObject([2, { error: { code: 'usage.unknown-recipient' } }]);
});
