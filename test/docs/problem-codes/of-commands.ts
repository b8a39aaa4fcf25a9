import { type Family, nothing } from './families.ts';

const plan = 'Make a new plan.';

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
        'Correct it ([settings](settings.md)).',
      ],
      'config.missing': ['Nothing is configured yet.', 'Run `leadsync init`.'],
      'setup.not-written': [
        'The configuration cannot be written in this folder.',
        'Name another with `--out`.',
      ],
    },
  },
  {
    title: 'Runs and connections',
    about: 'What was done is kept.',
    codes: {
      'alert.not-called': ['An alert or heartbeat was not taken.', 'Check it.'],
      'connection.paused': ['The connection is paused.', 'Resume it with the command in the message.'],
      'connection.running': ['A run of it is under way.', 'Try again when it has ended.'],
      'memory.too-small': [
        'The baselines do not fit into memory.',
        'Give more, or sync fewer (`leads.query`).',
      ],
      'process.silent': ['A probe got no answer of database or queue in time.', 'Are they overloaded?'],
      'process.stopped': ['A signal ended the command.', 'Start it again: it goes on from there.'],
      'process.stopping': ['The process ends.', nothing],
      'run.abandoned': ['Too old, or other settings; a new run began.', nothing],
      'run.lease-lost': ['Another process works on this connection.', nothing],
      'run.lost': ['The run is no longer in the database.', 'Sync again.'],
      'run.under-way': ['A sync is under way or waits.', nothing],
      'run.waiting': ['No requests for a while; the next sync goes on.', nothing],
    },
  },
  {
    title: 'The database',
    about: "leadsync's state; nothing in it is lost. See [operations](operations.md#postgres).",
    codes: {
      'database.disk-full': ['Its disk is full.', 'Make room, or set `DATA_DIR` elsewhere.'],
      'database.in-use': ['A worker or command uses it.', 'Stop every worker.'],
      'database.lost': ['The bundled Postgres stays away.', 'Put its folder back, or make room.'],
      'database.migration-changed': ['Another build made it.', 'Use the files as released.'],
      'database.forbidden': [
        'The user may not make the tables.',
        'Let a superuser run the SQL in the message.',
      ],
      'database.migration-failed': [
        'The schema was not brought up to date.',
        "Check the rights of `DATABASE_URL`'s user.",
      ],
      'database.newer-schema': [
        'A newer leadsync made it.',
        'Run that, or [go back](upgrade.md#the-way-back).',
      ],
      'database.no-state': ['It has no state of leadsync.', 'Check `DATABASE_URL` or `DATA_DIR`.'],
      'database.not-started': ['The bundled Postgres does not start.', 'See the named log.'],
      'database.not-writable': [
        "The database's folder cannot be written.",
        'Set `DATA_DIR` to one that can.',
      ],
      'database.other-version': [
        'Another Postgres made the folder.',
        'Run the former leadsync, or carry data over.',
      ],
      'database.restore-failed': [
        'The database refuses the backup.',
        'Check the user, or try another backup.',
      ],
      'database.slow': ['Too slow to keep the rate limit.', 'Is Postgres or the machine overloaded?'],
      'database.taken': ['Another installation works with it.', 'Set `DATABASE_URL` to one of its own.'],
      'state.moved': [
        'The state moved (`backup --move`).',
        'Work there, or [take it back](backup.md#move-to-another-postgres).',
      ],
      'database.unavailable': ['It is away.', 'Start it: work goes on from what is stored.'],
      'database.unreachable': ['No connection.', 'Check `DATABASE_URL` and network.'],
      'database.unsupported-platform': ['No Postgres comes along for this machine.', 'Set `DATABASE_URL`.'],
    },
  },
  {
    title: 'The queue',
    about:
      'Only with `REDIS_URL`. Redis may lose everything: no edit is lost. See [operations](operations.md#jobs-in-redis).',
    codes: {
      'queue.certificate': ["Redis's certificate is not trusted.", 'Name its CA in `NODE_EXTRA_CA_CERTS`.'],
      'queue.disk': ['Redis cannot save to its disk.', 'Make room there.'],
      'queue.evicts': ['Redis throws jobs away when full.', 'Set `maxmemory-policy noeviction`.'],
      'queue.forbidden': ['Redis forbids this user a command.', 'Give the rights that the message names.'],
      'queue.full': ['Redis has no memory left.', 'Raise `maxmemory`.'],
      'queue.job-failed': ['A job failed; the next one follows the schedule.', nothing],
      'queue.login-failed': ['Redis does not take user and password.', 'Correct `REDIS_URL`.'],
      'queue.no-such-database': ['Redis has no database of this number.', 'Correct it in `REDIS_URL`.'],
      'queue.old-redis': ['This Redis is too old.', 'Use 6.2 or newer, or Valkey.'],
      'queue.protected': ['Redis takes only connections of its own machine.', 'Set a password there.'],
      'queue.read-only': ['This Redis is a replica.', 'Name the master.'],
      'queue.taken': ['Another installation has its jobs there.', 'Name another database, such as `/1`.'],
      'queue.unavailable': ['It does not answer.', 'Start it: leadsync fills it again.'],
      'queue.unknown-host': ["Redis's host is unknown.", 'Correct `REDIS_URL`.'],
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
      'plan.not-written': ['The result could not be written.', 'Make room, or name another.'],
      'plan.too-large': [
        'The shown plan does not fit into memory; a sync does.',
        'Give leadsync more memory.',
      ],
      'usage.all-connections': ['This command is about all connections.', 'Leave `--connection` out.'],
      'usage.ambiguous-lead': ['Several leads fit.', 'Type more of name or id.'],
      'usage.backup-broken': ['The file is no complete backup.', 'Take another.'],
      'usage.backup-missing': ['The backup cannot be read.', 'Check its path.'],
      'usage.configured': ['The connection is still configured.', 'Take it out of leadsync.yaml first.'],
      'usage.conflict-changed': ['What waits has changed.', 'Look again: `leadsync conflicts`.'],
      'usage.folder-not-empty': ['The folder is not empty.', 'Name another.'],
      'usage.init-answer': ['An answer to `init` does not fit.', 'Correct it as the message says.'],
      'usage.init-exists': ['There is a leadsync.yaml.', 'Remove it, or take `--out`.'],
      'usage.init-missing': ['An answer is missing.', 'Give the named options.'],
      'usage.invalid': ['The command line cannot be understood.', 'See `leadsync --help`.'],
      'usage.lead-gone': ['The lead is no longer in the service.', nothing],
      'usage.match-taken': [
        'The lead or row is to be linked with another.',
        'Take that back with `--use apart`.',
      ],
      'usage.moved-from-here': [
        'The file holds the state moved from here.',
        '`leadsync resume` goes on with it.',
      ],
      'usage.no-channel': ['No connection has a chat channel.', 'Set `reminders.webhook`.'],
      'usage.no-feeds': ['No connection has reminders.', 'Set `reminders`.'],
      'usage.no-follow-up': ['The lead has no follow-up date.', 'Give it one.'],
      'usage.no-reminders': ['There are no reminders.', 'Set `reminders.to`.'],
      'usage.not-a-number': ['The option takes a whole number.', 'Type one.'],
      'usage.not-an-address': ['That is not one e-mail address.', 'Type one.'],
      'usage.not-decidable': [
        'What waits does not take this answer.',
        'Take a named one, or correct the record.',
      ],
      'usage.one-connection': ['There are several connections.', 'Name one with `--connection`.'],
      'usage.plan-connection': ['The plan is of another connection.', plan],
      'usage.plan-doubled': ['The plan has a line twice.', plan],
      'usage.plan-edited': ["The plan's head was changed by hand.", plan],
      'usage.plan-line': ['The plan has no such line, or it is held.', 'Name a line of the plan.'],
      'usage.oauth-client': [
        'The file is none of an OAuth client of the type "Desktop app".',
        'Download it from the Google Cloud console.',
      ],
      'usage.file-exists': [
        'A file is there that is no sign-in with this client.',
        'Move it, then try again.',
      ],
      'usage.plan-out': ['The file cannot be written there.', 'Name one in an existing folder.'],
      'usage.plan-out-exists': ['The file is there and is no plan.', 'Name another.'],
      'usage.plan-settings': ['The plan was made with other settings.', plan],
      'usage.plan-too-old': ['The plan is older than the history.', plan],
      'usage.plan-unknown': ['Of another database, or too old.', plan],
      'usage.plan-unreadable': ['The file is no plan.', 'Name one of `leadsync plan --out`.'],
      'usage.plan-version': ['Another leadsync wrote the plan.', plan],
      'usage.state-not-empty': ['The database has a state.', '`leadsync backup` it, then `--replace`.'],
      'usage.unknown-conflict': ['Nothing of this name waits.', '`leadsync conflicts` lists what does.'],
      'usage.unknown-connection': ['There is no such connection.', 'Use a name from leadsync.yaml.'],
      'usage.unknown-field': ['There is no such field.', 'Use one that the message names.'],
      'usage.unknown-lead': ['No lead fits.', 'Type an id or part of the name.'],
      'usage.unknown-recipient': [
        'That is no recipient of reminders.',
        '`leadsync status --feeds` lists them.',
      ],
      'usage.unknown-run': ['No such run, or none to undo.', '`leadsync status --runs` lists the runs.'],
    },
  },
  {
    title: 'The sandbox',
    about: 'Of `leadsync sandbox` and `leadsync demo`.',
    codes: {
      'sandbox.fault': ['The sandbox plays a fault.', nothing],
      'sandbox.faults-invalid': ['The faults cannot be understood.', 'Write them as the message says.'],
      'sandbox.lead-exists': ['The sandbox has this lead.', 'Use another id.'],
      'sandbox.lead-unknown': ['The sandbox has no such lead.', 'Use another id.'],
      'sandbox.port-unavailable': ['The port is taken.', 'Name another.'],
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
