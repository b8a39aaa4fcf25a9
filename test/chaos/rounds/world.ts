import { appendFileSync, chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { pino } from 'pino';
import { mailQueue } from '../../../src/worker/mail-jobs.ts';
import { syncQueue } from '../../../jobs/runs.ts';
import { noJobs, openQueues, type QueueBackend, type Queues } from '../../../src/queue/queue.ts';
import { createRandom } from '../../../src/demo/random.ts';
import { openDatabase } from '../../../src/store/database.ts';
import { parseRedisAddress } from '../../../src/config/redis-address.ts';
import { startMailServer } from '../../support/mail-server.ts';
import { isInstalled } from '../../support/programs.ts';
import { startRedis, type TestRedis } from '../../support/redis.ts';
import { Member, type MemberSurroundings } from './member.ts';
import { SmallDisk } from './small-disk.ts';
import { Team } from './team.ts';
import { WorldPostgres } from './world-postgres.ts';

export interface WorldOptions {
  readonly seed: number;
  readonly workers: number;
  readonly connections: number;
  /** Where the jobs are. */
  readonly backend: 'postgres' | 'redis';
}

interface MailAt {
  /** Epoch ms. */
  readonly at: number;
  readonly source: string;
}

const mailPassword = 'secret-of-the-mail-server';

/** Some teams, the workers that serve them all, and the servers these need: everything real, nothing shared with others. */
export class World implements AsyncDisposable {
  readonly folder: string;
  readonly seed: number;
  readonly events: string[] = [];
  /** What went wrong while it went on. */
  readonly faults: string[] = [];
  readonly mails: MailAt[] = [];
  /** Whether the clock of a worker was ever another than that of the mail server. */
  clockWasWrong = false;
  /** When who had got a 429 could not tell the others (epoch ms): he died, or had lost the database. */
  readonly untold: { readonly from: number; readonly to: number }[] = [];
  readonly secrets: string[];
  postgres!: WorldPostgres;
  /** Null: the jobs are in Postgres. */
  redis: TestRedis | null = null;
  pool!: pg.Pool;
  /** As the workers have them. */
  queues!: Queues;
  readonly teams: Team[] = [];
  readonly members: Member[] = [];
  /** Where commands are run. */
  guest!: Member;
  #hurried = 0;
  readonly startedAt = Date.now();
  readonly #stack = new AsyncDisposableStack();
  #isKept = false;

  private constructor(folder: string, seed: number) {
    this.folder = folder;
    this.seed = seed;
    this.secrets = [mailPassword];
  }

  static async open(options: WorldOptions): Promise<World> {
    const folder = await mkdtemp(join(tmpdir(), 'leadsync-chaos-'));
    // Postgres may run as another user.
    chmodSync(folder, 0o755);
    const world = new World(folder, options.seed);
    const stack = world.#stack;
    stack.defer(async () => {
      if (!world.#isKept) await rm(folder, { recursive: true, force: true });
    });
    try {
      await world.#build(stack, options);
      return world;
    } catch (error) {
      await stack.disposeAsync();
      throw error;
    }
  }

  async #build(stack: AsyncDisposableStack, options: WorldOptions): Promise<void> {
    const { workers, connections, backend } = options;
    const { folder, seed } = this;
    this.postgres = stack.use(await WorldPostgres.open(join(folder, 'server')));
    this.secrets.push(this.postgres.password);
    this.pool = stack.adopt(openDatabase({ connectionString: this.postgres.url() }), (pool) => pool.end());
    if (backend === 'redis') this.redis = stack.use(await startRedis({ appendOnly: true }));
    const where: QueueBackend =
      this.redis === null
        ? { kind: 'postgres', connectionString: this.postgres.url() }
        : { kind: 'redis', address: parseRedisAddress(this.redis.url) };
    this.queues = stack.use(await openQueues(where, pino({ level: 'silent' }), 0));
    const mail = stack.use(
      await startMailServer({
        disabledCommands: ['STARTTLS'],
        allowInsecureAuth: true,
        onAuth: (_auth, _session, callback) => callback(null, { user: 'sales' }),
        taken: ({ source }) => {
          this.mails.push({ at: Date.now(), source });
          return null;
        },
      }),
    );
    const trace = (event: string): void => this.trace(event);
    for (const [index, name] of ['a', 'b', 'c'].slice(0, connections).entries()) {
      const own = join(folder, name);
      // The first one's workbook lies on a disk that can be filled.
      const disk = index === 0 && isInstalled('mount') ? stack.use(new SmallDisk(own)) : null;
      if (disk === null) mkdirSync(own);
      this.teams.push(stack.use(await Team.open(name, own, disk, seed * 10 + index, trace)));
    }
    this.secrets.push(...this.teams.map(({ sandbox }) => sandbox.apiKey));
    // A queue whose first use breaks off never works again (BullMQ).
    for (const queue of [syncQueue, mailQueue]) await this.queues.queue(queue).counts();
    this.#configure();
    const surroundings: MemberSurroundings = {
      folder,
      env: {
        PATH: process.env['PATH'],
        HOME: folder,
        DATA_DIR: join(folder, 'data'),
        PORT: '0',
        LOG_LEVEL: 'debug',
        SMTP_URL: `smtp://sales:${mailPassword}@127.0.0.1`,
        ...Object.fromEntries(this.teams.map(({ name, sandbox }) => [keyName(name), sandbox.apiKey])),
      },
      postgres: this.postgres,
      mailPort: mail.port,
      redisPort: this.redis?.port ?? null,
      trace,
      fault: (fault) => this.fault(fault),
    };
    for (let nth = 1; nth <= workers; nth++)
      this.members.push(stack.use(await Member.open(`worker${nth}`, surroundings)));
    this.guest = stack.use(await Member.open('guest', surroundings));
  }

  /** Asks for a sync of a connection, as its schedule does. Of no effect while the queue cannot be reached. */
  async askForSync(name: string): Promise<void> {
    try {
      const payload = { connection: name, allow: ['first-leads'], maxAttempts: 45 };
      await Promise.race([this.queues.queue(syncQueue).add('sync', payload), sleep(5_000)]);
    } catch {
      // No job, no sync.
    }
  }

  /**
   * Makes the time pass that mails wait for after a try that failed: each connection with one that is owed gets a job that is due now. Returns how
   * many are owed. `isShort`: the minutes pass, too, for which a mail is left alone whose worker died.
   */
  async hurryMails(isShort: boolean): Promise<number> {
    if (isShort)
      await this.pool.query(
        `update mails set updated_at = updated_at - interval '10 minutes'
         where state = 'sending' and updated_at < now() - interval '5 s'`,
      );
    const { rows } = await this.pool.query<{ id: number; connection: string }>(
      `select id, connection from mails
       where kind <> 'digest'
         and (state = 'sending' or state = 'scheduled' and send_at < now() + interval '1 minute')`,
    );
    for (const { id, connection } of rows) {
      const queue = this.queues.queue(mailQueue);
      const { waiting, active, delayed } = (await queue.countsOfConnections()).get(connection) ?? noJobs;
      if (waiting + active + delayed === 0)
        this.fault(`reminder ${id} of ${connection} is owed, and has no job`);
    }
    await this.pool.query(`update mails set try_at = null where try_at is not null`);
    for (const connection of new Set(rows.map((row) => row.connection))) {
      const options = { id: `hurry-${connection}-${++this.#hurried}`, isKept: false };
      const payload = { connection, isChat: false, at: 0 };
      await this.queues.queue(mailQueue).add('send-mails', payload, options);
    }
    return rows.length;
  }

  trace(event: string): void {
    const line = `${((Date.now() - this.startedAt) / 1000).toFixed(2).padStart(7)} ${event}`;
    this.events.push(line);
    appendFileSync(join(this.folder, 'events.log'), `${line}\n`);
  }

  fault(fault: string): void {
    this.trace(`FAULT ${fault}`);
    this.faults.push(fault);
  }

  random(stream: string) {
    return createRandom(this.seed, stream);
  }

  /** Leaves the folder where it is, with the log of events and all that was printed. */
  keep(): void {
    this.#isKept = true;
    for (const member of [...this.members, this.guest])
      writeFileSync(join(this.folder, `${member.name}.log`), member.printed);
    for (const { name, sandbox } of this.teams) {
      writeFileSync(
        join(this.folder, `service-${name}.log`),
        sandbox.log
          .map(({ at, method, path, query, status }) =>
            [((at - this.startedAt) / 1000).toFixed(2), method, path + query, status].join(' '),
          )
          .join('\n'),
      );
      writeFileSync(join(this.folder, `leads-${name}.json`), JSON.stringify(sandbox.leads.list(), null, 1));
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#stack.disposeAsync();
  }

  #configure(): void {
    const connections = this.teams.map(({ name, url }) => [
      name,
      {
        leads: { baseUrl: url, apiKey: `\${${keyName(name)}}`, pageSize: 10 },
        target: { type: 'workbook', path: `./${name}/leads.csv` },
        // People change a lot in these few leads; the schedule is the test's.
        sync: { schedule: '0 0 1 1 *', proveAfter: '0m', limits: { maxChanges: 100_000 } },
        reminders: { from: 'sales@example.com', to: [recipient], timeZone: 'UTC' },
      },
    ]);
    writeFileSync(
      join(this.folder, 'leadsync.yaml'),
      JSON.stringify({ connections: Object.fromEntries(connections) }),
    );
  }
}

export const recipient = 'anna@example.com';

function keyName(connection: string): string {
  return `KEY_OF_${connection.toUpperCase()}`;
}
