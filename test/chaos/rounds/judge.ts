import { createHash } from 'node:crypto';
import { loadConfig } from '../../../src/config/load.ts';
import { syncQueue } from '../../../jobs/runs.ts';

import { judgeSides } from '../../simulation/judge.ts';
import type { DueLead } from './due-leads.ts';
import { longestPauseMs, type Team } from './team.ts';
import { recipient, type World } from './world.ts';

/** Looks at a world in which everything is healed and quiet; faults go into the world. */
export async function judgeRound(world: World): Promise<{ readonly excused: readonly string[] }> {
  const excused: string[] = [];
  const { connections } = await loadConfig({ env: world.guest.environment, cwd: world.folder });
  for (const team of world.teams) {
    const connection = connections.find(({ name }) => name === team.name);
    if (connection === undefined) throw new Error(`no connection ${team.name}`);
    const leads = team.sandbox.leads.list();
    const [headings = [], ...records] = (await team.table.grid()) ?? [];
    const numbered = records.map((record, index) => ({ record, number: index + 2 }));
    const rows = numbered.filter(({ record: [id = ''] }) => !team.due.has(id));
    const inGaps = team.typedInGaps();
    const sides = {
      // The leads that fall due have a judge of their own.
      sandbox: { leads: { list: () => leads.filter(({ id }) => !team.due.has(id)) } },
      table: {
        grid: () => Promise.resolve([headings, ...rows.map(({ record }) => record)]),
        numberOf: (index: number) => rows[index]?.number ?? 0,
      },
      connection,
      online: { typed: inGaps },
    };
    for (const token of inGaps)
      excused.push(`${team.name}: ${token} was typed into a lead between our look and our write`);
    for (const fault of await judgeSides(sides, team.people, world.pool))
      world.fault(`${team.name}: ${fault}`);
    for (const at of team.earlyAt) {
      const early = `${team.name}: a request came too early (${since(world, at)})`;
      // docs/guarantees.md, section 5: what others do not know of a pause.
      const isUntold = world.untold.some(({ from, to }) => from <= at && at <= to + longestPauseMs);
      if (isUntold) excused.push(early);
      else world.fault(early);
    }
    await judgeDueRows(world, team);
    for (const lead of team.due.all) excused.push(...(await judgeMails(world, team, lead)));
  }
  await judgeQueues(world);
  return { excused };
}

function since({ startedAt }: World, at: number): string {
  return `${((at - startedAt) / 1_000).toFixed(2)} s`;
}

/** Leads that fell due are in step, each with one row. */
async function judgeDueRows(world: World, team: Team): Promise<void> {
  const [headings = [], ...records] = (await team.table.grid()) ?? [];
  const at = headings.indexOf('Next follow-up');
  for (const { id, token, dues } of team.due.all) {
    const rows = records.filter((record) => record.includes(id));
    if (rows.length !== 1) world.fault(`${team.name}: ${token} has ${rows.length} rows`);
    const shown = Date.parse(rows[0]?.[at] ?? '');
    if (shown !== dues.at(-1)) world.fault(`${team.name}: ${token} shows another follow-up than its last`);
  }
}

/** How long (ms) before its moment a mail may arrive: what a clock and its reading differ by. */
const clockSlackMs = 50;

const minuteOf = (at: number): number => Math.floor(at / 60_000) * 60_000;

/** One mail for the minute that counted at the end, at most one for each that was moved, none before its time. */
async function judgeMails(world: World, team: Team, lead: DueLead): Promise<string[]> {
  const excused: string[] = [];
  const about = world.mails.filter(({ source }) => source.includes(lead.token));
  const { rows } = await world.pool.query<{
    due: number;
    state: string;
    note: string | null;
    resends: number;
  }>(
    `select (extract(epoch from due_at) * 1000)::float8 as due, state, note, resends from mails
     where connection = $1 and lead_id = $2`,
    [team.name, lead.id],
  );
  let known = 0;
  const last = minuteOf(lead.dues.at(-1) ?? 0);
  // What moves within a minute is told once, at the first of its moments or later.
  for (const [minute, dues] of Map.groupBy(lead.dues, minuteOf)) {
    const due = Math.min(...dues);
    const key = JSON.stringify([team.name, lead.id, minute, '0m', recipient]);
    const id = createHash('sha256').update(key).digest('hex').slice(0, 32);
    const mails = about.filter(
      ({ source }) => source.includes(`<${id}@`) && messageIdOf(source).startsWith(`<${id}@`),
    );
    known += mails.length;
    const ofMinute = rows.filter((one) => minuteOf(one.due) === minute);
    const row = ofMinute.find(({ state }) => state === 'sent') ?? ofMinute[0];
    const told = `${team.name}: ${lead.token} due ${since(world, due)}`;
    if (minute === last && (mails.length === 0 || row?.state !== 'sent'))
      world.fault(`${told}: ${mails.length} mails, and it is ${row?.state} (${row?.note})`);
    for (const { at } of mails) {
      if (at >= due - clockSlackMs) continue;
      const early = `${told}: a mail came at ${since(world, at)}, too early`;
      // Excused while the clock of a machine is wrong.
      if (world.clockWasWrong) excused.push(early);
      else world.fault(early);
    }
    if (mails.length < 2) continue;
    // docs/guarantees.md: "the mail is sent again with the same Message-ID", up to three times.
    const again = `${told}: ${mails.length} mails with one Message-ID, at ${mails.map(({ at }) => since(world, at)).join(', ')}`;
    if (mails.length > 4 || (row?.resends ?? 0) < mails.length - 1)
      world.fault(`${again}, with ${row?.resends} resends`);
    else excused.push(again);
  }
  if (known < about.length)
    world.fault(
      `${team.name}: ${about.length - known} mails about ${lead.token} are for no moment it ever had`,
    );
  return excused;
}

function messageIdOf(source: string): string {
  return /^Message-ID:\s*(\S+)/im.exec(source)?.[1] ?? '';
}

/** The schedules stand. */
async function judgeQueues(world: World): Promise<void> {
  const wanted = [
    ...world.teams.map(({ name }) => [syncQueue, name] as const),
    ['reminders', 'plan-reminders'] as const,
    ['housekeeping', 'prune-history'] as const,
  ];
  for (const [queue, schedule] of wanted)
    if (!(await world.queues.queue(queue).schedules()).has(schedule))
      world.fault(`the schedule ${schedule} is gone from the queue ${queue}`);
}
