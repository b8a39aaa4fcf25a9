/**
 * 10,000 leads due, mailed by the real worker: every mail once, in order of due time, how late, how long; beside a bare
 * loop of a nodemailer pool that sends the same mails to the same server. Writes bench/reminders.md.
 *
 *     npx node bench/reminders.ts [leads] [kills]
 *
 * Rounds, each on a fresh database with durable writes: all due before the worker starts (for the time it takes, three
 * times, each after a bare loop),
 * due one after the other within a minute (for the lateness), and the same with `kills` times kill -9 (default 0: left out).
 * Worker and loop are processes of their own; mail server and Leads service share this one.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { arch, cpus, loadavg, platform, release, tmpdir } from 'node:os';
import { join } from 'node:path';
import { createTransport } from 'nodemailer';
import { defaultFields } from '../src/core/lead/mapping.ts';
import { composeReminder } from '../src/reminders/compose/compose-reminder.ts';
import { buildMessage } from '../src/reminders/compose/message.ts';
import { openTemplates } from '../src/reminders/compose/templates.ts';
import { startEmbeddedPostgres } from '../src/postgres/embedded-postgres.ts';
import { makeSuperuser } from '../test/support/test-postgres.ts';
import { type Arrival, mailServer, measure, name, type Round } from './reminders/round.ts';

/** How often loop and worker are measured against each other. */
const turns = 3;

/** Measured by hand. */
const whereTheTimeGoes = `## Where the time goes

Profiled on 2026-11-21 with 2,000 to 4,000 mails on a machine with other work (load average 3 to 5). Before, with one job for
each mail, 2,000 mails took 3.2 times the loop in the same run. What was done, and what it gave in runs of 2,000 to 4,000 mails:

- one job for all reminders of a second, and for up to 500 that are late, instead of one for each: 10.8 s became 7.4 s;
- the commits of \`sending\` and \`sent\`, the reminder and what changed since the last one are asked for together for mails
  that are under way at once (16), waiting 10 ms for each other: 7.4 s became 6.4 s;
- the first byte of a mail is noticed by who begins to read it, without a generator around the stream (2026-11-23): 1.06 ms of
  processor time in our mailer for a mail instead of 1.16, the bare pool 1.13 (medians of six rounds in turns, load average 20);
- not kept: reading the Retry-After of all workers at most every 20 ms and not before each request (3,000 mails in 8.5 s
  instead of 10.2 s), since another process would then learn of a pause late (promise 5).

Each of these is one run, on a machine where the loop itself took 3.4 to 4.6 s for 2,000 mails: read them as directions.

With the settings kept (16 at once, 10 ms) two runs at that load took 1.6 and 1.8 times the loop; 24 to 64 at once and 10 to
40 ms took 1.4 to 2.2, and 16 with 20 ms once 3.1 when other work began. At a load average of 14.7, 10,000 mails three times took 2.57, 2.44 and 2.28
times (65.3, 75.7 and 70.1 s against 25.4, 31.1 and 30.7 s). What is left is processor time: of the worker's 2.6 ms a mail about
0.9 are nodemailer's, which the loop has as well, 0.3 the request for the lead, 0.3 making the words, 0.2 the database; and
Postgres and the Leads service want the two cores at the same time, which the loop shares with the mail server alone. The
leads were read one after the other.

On 2026-11-23 a quiet machine took 44.5 to 49.1 s for 10,000 mails against 12.3 to 14.2 s, 3.4 to 4.0 times. What was found then,
at load averages of 3 to 23, where only processor time and numbers of statements can be compared and not seconds:

- Postgres read the whole table for each statement that began or ended mails, and compared all late mails with each other, as long
  as it had no statistics of the table. Of 10,000 mails: 48.2 s in one statement before the first left (\`start and plan\` 52.6 s), 42.7 s
  in those that begin mails, 26.6 s in those that end them. Now each mail is found by its index: of 4,000 mails 0.6 s begin and 0.4 s
  end them, the first leaves after 1.6 s (6.0 s before), and a test counts the reads;
- four leads are read at once, by the rule for the requests of a sync (never after a 429): 120 mails at a service that takes 100 ms
  took 8.6 and 6.5 s instead of 15.9 and 16.4 s, in turns. With a service on the same machine processor time is the same;
- not kept: named statements, which Postgres plans once (4.8 s of its time for 2,000 mails instead of 6.5 s): a plan that was made
  while the table was small would stay, which is the first fault again;
- no gain beyond the noise: 10 ms of waiting also for the reads, with 48 mails at once; no timer before a batch; a larger young
  generation of the heap.

Afterwards 2,000 mails cost 3.8 ms of processor time a mail in the worker and 2 ms in Postgres, and wall time at such loads was 3 to
5 times the loop's; a quiet machine afterwards took 35.4 to 38.9 s, 2.67 to 2.97 times. Just before, with 10 times kill -9 within a minute: none of
10,000 missing, 32 twice, all in flight at a kill. 1.3 is not reached: of the worker's time
nodemailer has 30 %, the collection of garbage 20 %, talking to Postgres 22 %, the words 9 %, the request for the lead 6 %.

On 2026-11-25 at load averages of 10 to 25, so by statements and processor time alone, 2,000 mails a run, before and after:

| for each mail | before | after |
| --- | --- | --- |
| statements: looks at Retry-After | 1.56 | 1.00 |
| begin mails (a commit) | 0.52 | 0.55 |
| end mails (a commit) | 0.44 | 0.43 |
| read the reminder | 0.44 | 0.03 |
| read what changed since the last one | 0.43 | 0.03 |
| all commits, the queue's included | 3.4 to 3.8 | 2.2 to 2.5 |
| processor time of Postgres, ms | 4.8 to 5.7 | 3.6 to 3.7 |
| of the worker, ms | 7.5 to 9.8 | 7.9 to 8.5 |
| of a bare pool in the same minutes, ms | 2.6 to 3.5 | |

- The mails of a batch are read 32 at a time, with what they show, and not each by itself; the commit of \`sending\` refuses one
  that was planned anew meanwhile.
- A look at Retry-After that was made ahead is kept for each of the four requests under way; all but the last was thrown away.
- Not kept: one look for all requests that ask while another is under way (0.53 looks a mail, 1.8 commits, Postgres 2.9 ms): a
  connection that a cut cable keeps silent would hold up all requests, and not one.
- Not kept: making a mail whole before it is handed over, so that fewer pieces go to the socket: a bare pool takes 3.3 to 4.0 ms a
  mail that way, and 3.1 to 3.5 as it is.
- In the worker nothing is gained beyond the noise. Its profile with the one look for all: nodemailer 33 %, the words 12 %, Node's
  streams and sockets 11 %, garbage 9 %, talking to Postgres 9 % (14 % before), the request for the lead 5 %.

The rounds above are of a quiet hour of that day: 2.2 to 2.6 times the loop, where two days before it was 2.7 to 3.0. 1.3 cannot be had with one
process on two cores: nodemailer alone takes about 3 of the 12 ms that worker and Postgres take for a mail, and the promises ask
for the rest: the lead is read again, its Retry-After is looked at, two states are committed, and the words
are made for each lead; the bare pool does none of it.
`;

const [, script = '', first = '10000', second = '0'] = process.argv;

if (first === 'loop') await bareLoop(Number(process.argv[3]), Number(process.argv[4]));
else await main(Number(first), Number(second));

/** The same mails without any of ours but the words: one render, then as fast as three connections take them. */
async function bareLoop(port: number, count: number): Promise<void> {
  const transport = createTransport({
    host: '127.0.0.1',
    port,
    ignoreTLS: true,
    pool: true,
    maxConnections: 3,
    maxMessages: 100,
  });
  const composed = composeReminder({
    lead: { id: 'x', cells: { companyName: 'L00000 GmbH', stage: 'new', city: 'Ulm' } },
    fields: defaultFields,
    dueAt: Date.now(),
    kind: 'reminder',
    offsetText: '0m',
    timeZone: 'UTC',
    dayZone: 'UTC',
    now: Date.now(),
    changes: [],
    row: { target: 'leads.csv', number: null },
    leadUrl: null,
    notes: {},
    reason: null,
    hasEntry: false,
    templates: (await openTemplates(null, () => {})).in('en'),
  });
  const mail = (n: number) => ({
    key: `bare ${n}`,
    from: 'sales@example.com',
    to: 'anna@example.com',
    ...composed,
    subject: composed.subject.replace('L00000', name(n)),
    thread: String(n),
    date: Date.now(),
  });
  await transport.verify();
  const from = performance.now();
  // The pool has a queue of its own; all at once is how it is fastest.
  await Promise.all(Array.from({ length: count }, (_, n) => transport.sendMail(buildMessage(mail(n)))));
  process.stdout.write(`${performance.now() - from}\n`);
  transport.close();
}

async function main(count: number, kills: number): Promise<void> {
  await using stack = new AsyncDisposableStack();
  const folder = await mkdtemp(join(tmpdir(), 'leadsync-bench-'));
  stack.defer(() => rm(folder, { recursive: true, force: true }));
  await chmod(folder, 0o755);
  await makeSuperuser(folder, true);
  const server = stack.adopt(await startEmbeddedPostgres(folder), (started) => started.close());
  const arrivals: Arrival[] = [];
  const mail = await mailServer(arrivals);
  stack.defer(() => new Promise<void>((resolve) => mail.server.close(() => resolve())));
  const round = (title: string, fromNow: number, spreadMs: number, times: number) =>
    measure({
      title,
      count,
      fromNow,
      spreadMs,
      kills: times,
      folder,
      postgres: server.connectionString,
      mail,
      arrivals,
    });

  const bare: number[] = [];
  const loop = async (): Promise<void> => {
    bare.push(await runLoop(mail.port, count));
    arrivals.length = 0;
  };
  const rounds: Round[] = [];
  // In turns, because what else the machine does comes and goes.
  for (let turn = 0; turn < turns; turn++) {
    await loop();
    rounds.push(await round('all due at once', -count, 0, 0));
  }
  rounds.push(await round('due within a minute', 25_000, 60_000, 0));
  if (kills > 0)
    rounds.push(await round(`due within a minute, ${kills} times kill -9`, 25_000, 60_000, kills));
  await report(count, bare, rounds);
}

async function runLoop(port: number, count: number): Promise<number> {
  const child = spawn(process.execPath, [script, 'loop', String(port), String(count)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let text = '';
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk;
  });
  await once(child, 'close');
  return Number(text);
}

async function report(count: number, bare: readonly number[], rounds: readonly Round[]): Promise<void> {
  const version = async (path: string): Promise<string> => {
    const text = await readFile(new URL(`../node_modules/${path}/package.json`, import.meta.url), 'utf8');
    return (JSON.parse(text) as { version: string }).version;
  };
  const versions = await Promise.all(
    ['nodemailer', 'smtp-server', 'bullmq', 'pg'].map(async (path) => `${path} ${await version(path)}`),
  );
  const seconds = (ms: number): string => (ms / 1000).toFixed(1);
  const at = (values: readonly number[], part: number): string =>
    String(values[Math.min(values.length - 1, Math.floor(values.length * part))] ?? 0);
  const lines = rounds.map((round) =>
    [
      '',
      round.title,
      round.mails,
      round.missing,
      round.twice,
      round.otherId,
      round.notInFlight,
      seconds(round.planMs),
      seconds(round.sendMs),
      at(round.lateness, 0.5),
      at(round.lateness, 0.99),
      at(round.lateness, 1),
      round.displaced,
      round.kills === 0 ? '–' : round.inFlight,
      round.states,
      '',
    ]
      .join(' | ')
      .trim(),
  );
  const ratios = bare.map((ms, turn) => (rounds[turn]?.sendMs ?? 0) / ms);
  const text = `# What was measured of reminders

${new Date().toISOString().slice(0, 10)}, ${cpus().length} cores (${cpus()[0]?.model ?? '?'}, shared with other work: load average ${loadavg()[0]?.toFixed(1)} at the end),
${platform()} ${release()} ${arch()}, Node ${process.versions.node}, embedded Postgres with durable writes, ${versions.join(', ')}.

${count} leads, one mail each: \`npx node bench/reminders.ts ${count} ${rounds.at(-1)?.kills ?? 0}\`

| round | mails | missing | twice | with another Message-ID | and not in flight | start and plan, s | send, s | late p50, ms | p99 | most | places out of order, most | in flight at the kills | states at the end |
| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |
${lines.join('\n')}

A bare nodemailer pool loop, which reads no lead and remembers nothing, sent the same ${count} mails to the same server in
${bare.map(seconds).join(' s, ')} s, each time just before the worker did. All due at once takes ${ratios.map((ratio) => ratio.toFixed(2)).join(', ')} times that; the goal was 1.3.

${whereTheTimeGoes}`;
  process.stdout.write(text);
  await writeFile(new URL('reminders.md', import.meta.url), text);
}
