import type { Family } from './families.ts';

const nothing = 'Nothing.';

/** Faults of the process: its settings, commands, database and queue. */
export const ofCommands: readonly Family[] = [
  {
    title: 'Settings',
    about: 'Nothing was started, read or written.',
    codes: {
      'config.database-pooler': [
        'A pooler stands between leadsync and Postgres.',
        'Set `DATABASE_URL` to the direct address.',
      ],
      'config.invalid': [
        'A setting is wrong; the message names each.',
        'Correct it: [settings.md](settings.md).',
      ],
      'config.missing': ['Nothing is configured yet.', 'Run `leadsync init`.'],
      'setup.not-written': [
        'The configuration cannot be written in this folder.',
        'Name another one with `--out`.',
      ],
    },
  },
  {
    title: 'Runs and connections',
    about: 'What was done is kept.',
    codes: {
      'alert.not-called': [
        'The address of an alert or a heartbeat did not take the call.',
        'Check the address. A worker tries again by itself.',
      ],
      'connection.paused': ['The connection is paused.', 'Resume it with the command in the message.'],
      'connection.running': ['A run of the connection is under way.', 'Try again when it has ended.'],
      'memory.too-small': [
        'What is remembered of the leads does not fit into the memory of this process.',
        'Give the container or the machine more memory, or sync fewer leads (`leads.query`).',
      ],
      'process.silent': [
        'A probe got no answer of the database or the queue in time.',
        'Check whether they are overloaded.',
      ],
      'process.stopped': ['A signal ended the command.', 'Start it again: it goes on from there.'],
      'process.stopping': ['The process ends.', nothing],
      'run.abandoned': [
        'An interrupted run was too old, or the settings had changed.',
        'Nothing: a new run began.',
      ],
      'run.lease-lost': ['Another process works on this connection.', 'Nothing: it goes on there.'],
      'run.lost': ['The run is not in the database any more.', 'Sync again.'],
      'run.under-way': ['A sync is under way or waits.', 'Nothing.'],
      'run.waiting': [
        'The other side takes no more requests for a while.',
        'Nothing: the next sync goes on.',
      ],
    },
  },
  {
    title: 'The database',
    about: 'The state of leadsync; nothing in it is lost. See [operations.md](operations.md#postgres).',
    codes: {
      'database.disk-full': [
        'The disk of the database is full.',
        'Make room, or set `DATA_DIR` to another disk.',
      ],
      'database.in-use': ['A worker or command uses the database.', 'Stop every worker, then try again.'],
      'database.lost': [
        'The bundled Postgres could not be started again.',
        'Put its folder back, or make room, then start the worker.',
      ],
      'database.migration-changed': [
        'The database was made by another build.',
        'Use the files as they were released.',
      ],
      'database.forbidden': [
        'The user may not make the tables.',
        'Let a superuser run the SQL in the message.',
      ],
      'database.migration-failed': [
        'The tables could not be brought up to date.',
        'Check what the user of `DATABASE_URL` may do.',
      ],
      'database.newer-schema': [
        'A newer leadsync made the database.',
        'Run that version, or [go back](upgrade.md#the-way-back).',
      ],
      'database.no-state': ['The database has no state of leadsync.', 'Check `DATABASE_URL` or `DATA_DIR`.'],
      'database.not-started': ['The bundled Postgres does not start.', 'See the log that the message names.'],
      'database.not-writable': [
        'The folder of the database cannot be written.',
        'Set `DATA_DIR` to one that can.',
      ],
      'database.other-version': [
        'Another version of Postgres made the folder.',
        'Run the leadsync that made it, or carry the data over.',
      ],
      'database.restore-failed': [
        'The database refuses the backup.',
        'Check the user, or try another backup.',
      ],
      'database.slow': [
        'The database was too slow to keep the rate limit.',
        'Check whether Postgres or the machine is overloaded.',
      ],
      'database.taken': [
        'Another installation works with this database.',
        'Set `DATABASE_URL` to one of its own.',
      ],
      'state.moved': [
        'The state has moved to another database (`backup --move`).',
        'Work with that one, or [take it back](backup.md#move-to-another-postgres).',
      ],
      'database.unavailable': ['The database is away.', 'Start it. Work goes on from what is stored.'],
      'database.unreachable': ['No connection to the database.', 'Check `DATABASE_URL` and the network.'],
      'database.unsupported-platform': ['No Postgres comes along for this machine.', 'Set `DATABASE_URL`.'],
    },
  },
  {
    title: 'The queue',
    about:
      'Only with `REDIS_URL`. Redis may lose everything: no edit is lost. See [operations.md](operations.md#jobs-in-redis).',
    codes: {
      'queue.certificate': [
        'The certificate of Redis is not trusted.',
        'Name its CA in `NODE_EXTRA_CA_CERTS`.',
      ],
      'queue.disk': ['Redis cannot save to its disk.', 'Make room there.'],
      'queue.evicts': [
        'Redis throws jobs away when its memory is full.',
        'Set `maxmemory-policy noeviction`.',
      ],
      'queue.forbidden': [
        'Redis forbids a command to this user.',
        'Give it the rights that the message names.',
      ],
      'queue.full': ['Redis has no memory left.', 'Raise `maxmemory`.'],
      'queue.job-failed': [
        'A job failed; the message says why.',
        'Nothing: the next one follows the schedule.',
      ],
      'queue.login-failed': ['Redis does not take user and password.', 'Correct `REDIS_URL`.'],
      'queue.no-such-database': [
        'Redis has no database of this number.',
        'Correct the number in `REDIS_URL`.',
      ],
      'queue.old-redis': ['This Redis is too old.', 'Use 6.2 or newer, or Valkey.'],
      'queue.protected': ['Redis takes connections from its own machine alone.', 'Set a password there.'],
      'queue.read-only': ['This Redis is a replica.', 'Name the master.'],
      'queue.taken': [
        'Another installation has its jobs in this Redis.',
        'Name another database in `REDIS_URL`, such as `/1`.',
      ],
      'queue.unavailable': ['The queue does not answer.', 'Start it. leadsync fills it again.'],
      'queue.unknown-host': ['The host of Redis is unknown.', 'Correct `REDIS_URL`.'],
      'queue.unknown-job': ['A job of another version is in the queue.', 'Run one version on one queue.'],
      'queue.unknown-master': [
        'The Sentinels do not know this master.',
        'Correct `?master=` in `REDIS_URL`.',
      ],
    },
  },
  {
    title: 'The status page',
    about: 'The worker does not start without it.',
    codes: {
      'http.not-listening': ['The address cannot be listened on.', 'Set `HOST` and `PORT`.'],
      'http.port-taken': ['Another program uses the port.', 'Set `PORT` to a free one.'],
    },
  },
  {
    title: 'Commands',
    about: 'The command did nothing. `leadsync COMMAND --help` shows what it takes.',
    codes: {
      'plan.not-written': [
        'The file of the result could not be written.',
        'Make room, or name another file.',
      ],
      'plan.too-large': [
        'The plan has more text than fits into the memory, so it is not shown.',
        'Give leadsync more memory. A sync never holds its whole plan.',
      ],
      'usage.all-connections': ['This command is about all connections.', 'Leave `--connection` out.'],
      'usage.ambiguous-lead': ['Several leads fit.', 'Type more of the name or id.'],
      'usage.backup-broken': ['The file is no complete backup.', 'Take another one.'],
      'usage.backup-missing': ['The backup cannot be read.', 'Check its path.'],
      'usage.configured': ['The connection is still configured.', 'Take it out of leadsync.yaml first.'],
      'usage.conflict-changed': [
        'What waits has changed since it was shown.',
        'Look again: `leadsync conflicts`.',
      ],
      'usage.folder-not-empty': ['The folder is not empty.', 'Name another one.'],
      'usage.init-answer': ['An answer to `init` does not fit.', 'Correct it as the message says.'],
      'usage.init-exists': [
        'There is a leadsync.yaml already, and nobody said yes.',
        'Remove it, or name another place with `--out`.',
      ],
      'usage.init-missing': [
        'An answer is missing, and there is no terminal to ask on.',
        'Give the options that are named.',
      ],
      'usage.invalid': ['The command line cannot be understood.', 'See `leadsync --help`.'],
      'usage.lead-gone': ['The lead is not in the service any more.', nothing],
      'usage.match-taken': [
        'The lead or the row is to be linked with another one already.',
        'Take that back first: `leadsync resolve ID --use apart`.',
      ],
      'usage.moved-from-here': [
        'The file holds the state that moved away from this database, and is still in it.',
        '`leadsync resume` goes on with it.',
      ],
      'usage.no-channel': ['No connection has a chat channel.', 'Set `reminders.webhook`.'],
      'usage.no-feeds': ['No connection has reminders, and so none has calendar feeds.', 'Set `reminders`.'],
      'usage.no-follow-up': ['The lead has no follow-up date.', 'Give it one.'],
      'usage.no-reminders': ['There are no reminders.', 'Set `reminders.to`.'],
      'usage.not-a-number': ['The option takes a whole number.', 'Type one.'],
      'usage.not-an-address': ['That is not one e-mail address.', 'Type one.'],
      'usage.not-decidable': [
        'What waits does not take this answer.',
        'Take one that the message names, or correct the row or the lead.',
      ],
      'usage.one-connection': ['There are several connections.', 'Name one with `--connection`.'],
      'usage.plan-connection': ['The plan is of another connection.', 'Make a new plan.'],
      'usage.plan-doubled': ['The plan has a line twice.', 'Make a new plan.'],
      'usage.plan-edited': ['The head of the plan was changed by hand.', 'Make a new plan.'],
      'usage.plan-line': ['The plan has no such line, or it is held.', 'Name a line of the plan.'],
      'usage.plan-out': ['The file cannot be written there.', 'Name one in an existing folder.'],
      'usage.plan-out-exists': ['The file is there and is no plan.', 'Name another one.'],
      'usage.plan-settings': ['The plan was made with other settings.', 'Make a new plan.'],
      'usage.plan-too-old': ['The plan is older than the history.', 'Make a new plan.'],
      'usage.plan-unknown': ['The plan was made with another database, or is too old.', 'Make a new plan.'],
      'usage.plan-unreadable': ['The file is no plan.', 'Name a file of `leadsync plan --out`.'],
      'usage.plan-version': ['Another leadsync wrote the plan.', 'Make a new plan.'],
      'usage.state-not-empty': [
        'The database has a state of its own.',
        'Keep it with `leadsync backup`, then `--replace`.',
      ],
      'usage.unknown-conflict': [
        'Nothing of this number or name waits for an answer.',
        '`leadsync conflicts` lists what does.',
      ],
      'usage.unknown-connection': ['There is no such connection.', 'Use a name from leadsync.yaml.'],
      'usage.unknown-field': ['There is no such field.', 'Use one that the message names.'],
      'usage.unknown-lead': ['No lead fits.', 'Type an id or part of the company name.'],
      'usage.unknown-recipient': [
        'That is no recipient of reminders.',
        '`leadsync status --feeds` lists them.',
      ],
      'usage.unknown-run': [
        'There is no such run, or it cannot be undone.',
        '`leadsync status --runs` lists the runs.',
      ],
    },
  },
  {
    title: 'The sandbox',
    about: 'Of `leadsync sandbox` and `leadsync demo`.',
    codes: {
      'sandbox.fault': ['The sandbox plays a fault.', nothing],
      'sandbox.faults-invalid': ['The faults cannot be understood.', 'Write them as the message says.'],
      'sandbox.lead-exists': ['The sandbox has this lead already.', 'Use another id.'],
      'sandbox.lead-unknown': ['The sandbox has no such lead.', 'Use another id.'],
      'sandbox.port-unavailable': ['The sandbox cannot listen on this port.', 'Name another one.'],
      'sandbox.rate-invalid': ['The rate cannot be understood.', 'Write it as 10/s.'],
    },
  },
  {
    title: 'Anything else',
    about: '',
    codes: {
      internal: ['A mistake in leadsync.', 'Please report it, with the log.'],
    },
  },
];
