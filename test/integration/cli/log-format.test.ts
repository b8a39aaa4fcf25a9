import { expect, test } from 'vitest';
import { Workspace } from '../../support/workspace.ts';

/** The log lines of a sync, of which there is at least one. */
async function logOf(logFormat: string): Promise<readonly string[]> {
  await using workspace = await Workspace.open({ sandbox: { leads: 1 } });
  const env = { LOG_LEVEL: 'trace', LOG_FORMAT: logFormat };
  const { code, stderr } = await workspace.start(['sync', '--json'], { env }).ended;
  expect(code).toBe(0);
  return stderr.trim().split('\n');
}

const parsed = async (logFormat: string) =>
  (await logOf(logFormat)).map((line) => JSON.parse(line) as { level: unknown; time: unknown });

test('named: the level by its name, the time in ISO 8601', async () => {
  for (const { level, time } of await parsed('named')) {
    expect(level).toMatch(/^(?:trace|debug|info)$/);
    expect(time).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  }
});

test.each(['json', 'auto'])('%s without a terminal: the numbers of pino', async (format) => {
  for (const line of await parsed(format))
    expect(line).toMatchObject({ level: expect.any(Number), time: expect.any(Number) });
});

test('pretty: for people, also where there is no terminal', async () => {
  expect((await logOf('pretty')).join('\n')).toMatch(/(?:DEBUG|TRACE|INFO).*: /);
});
