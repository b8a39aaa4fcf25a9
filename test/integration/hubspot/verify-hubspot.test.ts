import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import {
  type HubSpotSandbox,
  type HubSpotSandboxOptions,
  startHubSpotSandbox,
} from '../../stand-ins/hubspot/hubspot-sandbox.ts';
import { compiledEnv } from '../../support/compiled.ts';

const script = fileURLToPath(new URL('../../../verify/hubspot.ts', import.meta.url));

/** Limits with headers that nobody has to wait for. */
const limits = { tenSeconds: 10_000, daily: 250_000 };
const start = (options: HubSpotSandboxOptions = {}) => startHubSpotSandbox({ limits, ...options });

/** Starts `npm run verify:hubspot`; no `token`: without the variable. */
function begin(url: string, token?: string) {
  const env = { ...compiledEnv, TARGET_API_URL: url, ...(token !== undefined && { HUBSPOT_TOKEN: token }) };
  const child = spawn(process.execPath, [script], { env, stdio: ['ignore', 'pipe', 'pipe'] });
  let stdout = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      stdout += text;
    });
  }
  const ended = once(child, 'close').then(() => ({ code: child.exitCode, stdout }));
  return { child, ended };
}

const verify = (portal: HubSpotSandbox) => begin(portal.url, portal.token).ended;

const lines = (stdout: string, outcome: string): string[] =>
  stdout.split('\n').filter((line) => line.startsWith(outcome));

/** What is left of it in the portal. */
const left = ({ person }: HubSpotSandbox) => [
  ...person.companies().map(({ properties }) => properties['name']),
  ...person.properties().flatMap(({ name }) => (name.startsWith('leadsync') ? name : [])),
];

test('verify:hubspot finds the stand-in as it takes HubSpot to be, twice, and leaves nothing behind', async () => {
  await using portal = await start();
  const own = portal.person.create({ name: 'Somebody else', city: 'Ulm' });
  const before = portal.person.companies();
  for (let run = 0; run < 2; run++) {
    const { code, stdout } = await verify(portal);
    expect(lines(stdout, 'otherwise')).toEqual([]);
    expect(lines(stdout, 'not tried')).toEqual([]);
    expect(lines(stdout, 'as expected').length).toBeGreaterThan(40);
    for (const tried of ['a create whose id another company has', 'hs_merged_object_ids', 'without tickets'])
      expect(stdout).toContain(tried);
    expect(stdout).toMatch(/^\d\d+ companies and \d+ properties were archived again\.$/m);
    expect(stdout).not.toContain(portal.token);
    expect(code).toBe(0);
  }
  expect(left(portal)).toEqual(['Somebody else']);
  expect(portal.person.companies()).toEqual(before);
  expect(portal.person.companies()[0]?.id).toBe(own);
});

test.for([
  { options: { trim: true }, told: 'white space at the ends of a text is kept', titles: 2 },
  { options: { partial: '200' }, told: 'with trace ids a refused value fails alone', titles: 4 },
  {
    options: { traceIds: false },
    told: 'each result of an upsert and of an update has its trace id',
    titles: 5,
  },
  { options: { merge: 'primary' }, told: 'a merge: a new record comes of it', titles: 1 },
  { options: { mergedInBin: true }, told: 'a merge: neither old record is in the list', titles: 1 },
  { options: { limits: null }, told: 'answers have the headers of the limits', titles: 1 },
] as const)('what is otherwise is told with what came: $options', async ({ options, told, titles }) => {
  await using portal = await start(options);
  const { code, stdout } = await verify(portal);
  const otherwise = lines(stdout, 'otherwise');
  expect(otherwise.some((line) => line.includes(told))).toBe(true);
  expect(otherwise.length).toBeGreaterThanOrEqual(titles);
  expect(lines(stdout, 'as expected').length).toBeGreaterThan(30);
  expect(lines(stdout, 'not tried')).toEqual([]);
  expect(stdout).toContain(`${otherwise.length} otherwise than the stand-in`);
  expect(code).toBe(1);
  expect(left(portal)).toEqual([]);
});

test('what the key may not do could not be tried, and why', async () => {
  await using portal = await start();
  portal.before = ({ kind }) => (kind === 'archived-list' ? { status: 403 } : undefined);
  const { code, stdout } = await verify(portal);
  const untried = lines(stdout, 'not tried');
  expect(untried.length).toBeGreaterThan(0);
  expect(untried[0]).toMatch(/the list of archived companies.*crm\.objects\.companies\.read \(403/);
  expect(untried.at(-1)).toMatch(/the adapter .*403/);
  expect(lines(stdout, 'otherwise')).toEqual([]);
  expect(code).toBe(1);
  expect(left(portal)).toEqual([]);
});

test('a write whose answer is lost is archived all the same', async () => {
  await using portal = await start();
  let upserts = 0;
  portal.before = ({ kind }) =>
    kind === 'upsert' && ++upserts % 3 === 0 ? { kind: 'reset-after' } : undefined;
  const { code, stdout } = await verify(portal);
  expect(lines(stdout, 'not tried')[0]).toContain('no reply from');
  expect(code).toBe(1);
  expect(left(portal)).toEqual([]);
});

test('Ctrl+C in the middle, which npm sends twice: what was made is archived, and no check is begun', async () => {
  await using portal = await start();
  const { child, ended } = begin(portal.url, portal.token);
  let updates = 0;
  portal.before = async ({ kind }) => {
    if (kind !== 'update' || ++updates !== 5) return;
    const stopped = new Promise<void>((resolve) => {
      child.stdout.on('data', (text: string) => {
        if (text.includes('Stopped:')) resolve();
      });
    });
    child.kill('SIGINT');
    child.kill('SIGINT');
    await stopped;
  };
  const { code, stdout } = await ended;
  expect(code).toBe(1);
  expect(stdout).toMatch(/^\d+ companies and \d+ properties were archived again\.$/m);
  expect(stdout).toMatch(/[1-9]\d* could not be tried\.$/m);
  expect(updates).toBeLessThan(7);
  expect(left(portal)).toEqual([]);
});

test('what could not be archived is named', async () => {
  await using portal = await start();
  portal.before = ({ kind, n }) => (kind === 'archive' && n > 200 ? { status: 503 } : undefined);
  const { code, stdout } = await verify(portal);
  expect(stdout).toMatch(/^Archive the companies "leadsync verify .* by hand: .*503/m);
  expect(code).toBe(1);
});

test('a token that HubSpot does not take, and none at all: 2, and what to do', async () => {
  await using portal = await start();
  const wrong = await begin(portal.url, 'pat-na1-wrong').ended;
  expect(wrong.code).toBe(2);
  expect(wrong.stdout).toMatch(/nothing was made: .*rejected the access token.*Create a service key/);
  expect(wrong.stdout).not.toContain('pat-na1-wrong');
  const none = await begin(portal.url).ended;
  expect(none.code).toBe(2);
  expect(none.stdout).toMatch(/needs HUBSPOT_TOKEN: create a service key .*crm\.schemas\.companies\.write/);
  expect(portal.requests.every(({ status }) => status === 401)).toBe(true);
});
