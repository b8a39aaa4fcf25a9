import { Command, InvalidArgumentError, Option } from 'commander';
import { nearestName } from '../core/lead/wording.ts';
import { answers } from '../core/merge/holds.ts';
import { guardCodes } from '../core/merge/guard.ts';
import { copyCodes } from '../core/merge/older-copy.ts';
import { version } from '../lib/version.ts';

type Example = readonly [line: string, does: string];

/** What `leadsync COMMAND --help` shows, by command. Each line is parsed by a test. */
export const examples: Readonly<Record<string, readonly Example[]>> = {
  demo: [
    ['demo', 'syncs made-up leads with an Excel workbook in a new folder'],
    ['demo --target google-sheets --dir ./look', 'the same on a local stand-in of Google Sheets'],
  ],
  init: [
    ['init', 'asks for all it needs, on a terminal'],
    [
      'init --leads-url https://api.example.com --leads-key-file ./key --target ./leads.xlsx --yes',
      'asks nothing but whether to carry out the plan: takes what it proposes',
    ],
    [
      'init --target ./customers.xlsx --sheet 2026 --map companyName=Firma --map "stage=Status"',
      'asks for the rest alone',
    ],
    [
      'init --target https://cloud.example.com/remote.php/dav/files/anna/leads.xlsx --webdav-user anna --webdav-password-file ./password',
      'a file in Nextcloud',
    ],
  ],
  check: [
    ['check', 'tests everything and changes nothing'],
    ['check --fix', 'also makes the properties that HubSpot lacks, and takes a copied file as the target'],
    ['check --test-alert', 'sends a test to everybody who gets alerts'],
    ['check --send-test anna@example.com', 'sends her a sample of a reminder'],
    [
      'check --google-sign-in client.json',
      'signs you in at Google, where keys of service accounts are forbidden',
    ],
  ],
  plan: [
    ['plan', 'shows what would change: numbers, what is held, and the first changes field by field'],
    ['plan --all', 'shows each change, however many'],
    ['plan --summary --connection berlin', 'counts the changes of one connection'],
    ['plan --out plan.json', 'keeps the plan, for apply'],
  ],
  apply: [
    ['apply plan.json', 'carries out what the file says, and nothing else'],
    ['apply plan.json --only 12,15', 'two lines of it'],
  ],
  sync: [
    ['sync', 'carries out what plan shows'],
    ['sync --connection berlin --json', 'one connection, with one JSON object as the result'],
    ['sync --allow max-deletes', 'goes on where that guard stopped the run'],
    ['sync --older-copy update', 'brings an older copy of the table forward'],
  ],
  worker: [
    ['worker', 'runs until it gets SIGTERM'],
    ['worker --config /etc/leadsync/leadsync.yaml', 'with the configuration of a server'],
  ],
  pause: [['pause --connection berlin', 'berlin is not synced until it is resumed']],
  resume: [['resume --connection berlin', 'berlin is synced again']],
  status: [
    ['status', 'shows each connection, in a few lines'],
    ['status --json', 'the same for a program'],
    ['status --runs --limit 5', 'the last five runs of each connection'],
    ['status --runs 42', 'each change that run 42 wrote'],
    ['status --reminders', 'the mails that are coming, sent and failed'],
    ['status --reminders sonnenhof', 'prints the mail about that company; sends nothing'],
  ],
  conflicts: [['conflicts', 'lists what waits for a person, with the numbers for resolve']],
  resolve: [
    ['resolve 17 --use lead', "the lead's value of conflict 17 is right"],
    ['resolve sonnenhof --use row', "the row's values of that company are right"],
    ['resolve sonnenhof --use link', 'the row and the lead of that name are one company'],
    ['resolve anna@example.com --use restore', 'her calendar gets its entries again'],
    ['resolve --all --use row', "the table's values of all open conflicts are right"],
  ],
  why: [
    ['why sonnenhof', 'all values of the company with this in its name'],
    ['why 018cd95e stage', 'one field, by the beginning of the id'],
  ],
  undo: [
    ['undo 42', 'shows what would be put back; writes nothing'],
    ['undo 42 --yes', 'puts it back'],
  ],
  forget: [
    ['forget berlin', 'lists what is kept of it'],
    ['forget berlin --yes', 'deletes it for good'],
  ],
  backup: [
    ['backup leadsync.backup', 'while workers go on'],
    ['backup leadsync.backup --move', 'and leaves this state, for another database'],
  ],
  restore: [
    ['restore leadsync.backup', 'into an empty database'],
    ['restore leadsync.backup --replace', 'in place of the state that is there'],
  ],
  sandbox: [
    ['sandbox --leads 5000', 'runs until Ctrl-C and prints what to export'],
    ['sandbox --rate 10/s --faults "500:every=7"', 'limits requests, and fails each seventh'],
  ],
};

/** Loaded only when it runs, for a fast start. */
function lazily(load: () => Promise<(...args: never[]) => Promise<void>>) {
  return async (...args: unknown[]): Promise<void> => (await load())(...(args as never[]));
}

const allowCodes: readonly string[] = [...Object.values(copyCodes), ...guardCodes];

const allow = (): Option =>
  new Option('--allow <refusal>', 'carry out what the guard refuses (repeatable)')
    .choices(allowCodes)
    .argParser((value: string, previous: readonly string[] | undefined) => {
      if (!allowCodes.includes(value))
        throw new InvalidArgumentError(`It is one of ${allowCodes.join(', ')}.`);
      return [...(previous ?? []), value];
    });

/** What other tools call it. */
const otherWords: Readonly<Record<string, string>> = {
  setup: 'init',
  configure: 'init',
  doctor: 'check',
  diagnose: 'check',
  test: 'check',
  validate: 'check',
  verify: 'check',
  preview: 'plan',
  diff: 'plan',
  run: 'sync',
  daemon: 'worker',
  serve: 'worker',
  start: 'worker',
  history: 'status',
  log: 'status',
  logs: 'status',
  runs: 'status',
  reminders: 'status',
  match: 'conflicts',
  revert: 'undo',
  rollback: 'undo',
  dump: 'backup',
  'export-state': 'backup',
};

export function createProgram(): Command {
  const program = new Command('leadsync')
    .description('Keeps the leads of the Lead Management Service in step with a spreadsheet, both ways.')
    .version(version, '--version', 'prints the version')
    .showHelpAfterError('(leadsync --help lists the commands)')
    .exitOverride();

  program.on('command:*', ([name = '']: string[]) => {
    const names = program.commands.map((command) => command.name());
    const meant = otherWords[name] ?? nearestName(name, names);
    const question = meant === undefined ? '' : `\n(Did you mean ${meant}?)`;
    program.error(`error: unknown command '${name}'${question}`, { code: 'commander.unknownCommand' });
  });

  const command = (name: string, description: string): Command =>
    program
      .command(name)
      .description(description)
      .option('--connection <name>', 'only this connection (default: all)')
      .option('--config <file>', 'configuration file (default: leadsync.yaml, or the environment)')
      .option('--json', 'print one JSON object to stdout')
      .addHelpText('after', () => examplesOf(name))
      .exitOverride();

  command('demo', 'shows the main job on a local sandbox, without set-up')
    .option('--dir <folder>', 'for its files (default: a new folder under ./data)')
    .addOption(
      new Option('--target <kind>', 'a workbook, or a local stand-in of Google Sheets')
        .choices(['xlsx', 'google-sheets'])
        .default('xlsx'),
    )
    .action(lazily(async () => (await import('./demo.ts')).demo));
  program
    .command('init')
    .description('asks for a first connection, tries it, writes leadsync.yaml, carries it out')
    .option('--leads-url <url>', 'address of the Leads service')
    .option('--leads-key-file <file>', 'a file with its key')
    .option(
      '--target <place>',
      'as the variable TARGET: ./leads.xlsx, ./leads.csv, https://…/leads.xlsx (WebDAV), a sharing link of SharePoint, msgraph:DRIVE/PATH, google-sheets:SPREADSHEET_ID/TAB, hubspot, postgres-table:TABLE',
    )
    .option('--sheet <name>', 'the sheet of an Excel workbook')
    .option('--webdav-user <name>', 'user on the WebDAV server')
    .option('--webdav-password-file <file>', "a file with that user's password")
    .option('--msgraph-tenant <id>', 'directory of Microsoft 365: id or domain')
    .option('--msgraph-client-id <id>', "id of leadsync's app there")
    .option('--msgraph-client-secret-file <file>', "a file with that app's secret")
    .option('--id-column <heading>', 'the column with the ids')
    .option('--map <field=heading...>', 'the column of a lead field; FIELD= leaves it out')
    .option('--remind <addresses>', 'who gets reminders, with commas; none: nobody')
    .option('--connection, --name <connection>', 'name of the connection', 'default')
    .option('--config, --out <file>', 'another place for leadsync.yaml, with secrets and state beside it')
    .option('--yes', 'take what is proposed, guesses too; ask for the rest')
    .option('--json', 'ask nothing, and print one JSON object to stdout')
    .addHelpText('after', () => examplesOf('init'))
    .exitOverride()
    .action(lazily(async () => (await import('./init.ts')).init));
  command('check', 'tests configuration, database, queue, credentials, permissions, target, mail')
    .option('--fix', 'take a copied spreadsheet as the target; make properties in HubSpot')
    .option('--test-alert', 'send a test alert')
    .option(
      '--google-sign-in <client>',
      'only sign in at Google, with the file of an OAuth client; writes google-credentials.json beside it',
    )
    .option('--send-test <address>', 'only send a sample mail to this address, or to the channel: chat')
    .action(lazily(async () => (await import('./check.ts')).check));
  command('plan', 'shows each change; writes nothing')
    .option('--out <file>', 'keep the plan in a file, for apply')
    .option('--summary', 'only how many changes of each kind and field')
    .addOption(new Option('--all', 'each change, however many').conflicts('summary'))
    .action(lazily(async () => (await import('./plan.ts')).plan));
  command('apply', 'carries out exactly the plan in a file, but no record that changed since')
    .argument('<file>', 'a file that `leadsync plan --out` wrote')
    .addOption(
      new Option('--only <ids>', 'only these lines: ID,ID').argParser((ids: string) =>
        ids.split(',').map((id) => id.trim()),
      ),
    )
    .addOption(allow())
    .action(lazily(async () => (await import('./apply.ts')).apply));
  command('sync', 'plans and carries it out now')
    .addOption(allow())
    .addOption(
      new Option('--older-copy <what>', 'brings an older copy forward to the newer values').choices([
        'update',
      ]),
    )
    .action(lazily(async () => (await import('./sync.ts')).sync));
  command('worker', 'runs schedules, jobs and reminders until stopped').action(
    lazily(async () => (await import('./worker.ts')).worker),
  );
  command('pause', 'stops the syncs of a connection until resume').action(
    lazily(async () => (await import('./pause.ts')).pause),
  );
  command('resume', 'lets a paused connection go on; ends a wait of the service').action(
    lazily(async () => (await import('./pause.ts')).resume),
  );
  command('status', 'shows last and next runs, waits, held items, coming reminders')
    .option('--runs [run]', 'the runs, the latest first, with their numbers; or what one wrote')
    .option('--limit <n>', 'with --runs: how many of each (default: 20)')
    .addOption(
      new Option(
        '--reminders [lead]',
        'coming, sent and failed mails; or the mail about a lead (id, or part of its name)',
      ).conflicts('runs'),
    )
    .addOption(new Option('--cancelled', 'the same with cancelled ones, and why').conflicts('runs'))
    .addOption(
      new Option('--feeds', 'begin calendar feeds, and list their addresses').conflicts(listsOfStatus),
    )
    .addOption(
      new Option('--new-feed <address>', "another address for this recipient's feed").conflicts(
        listsOfStatus,
      ),
    )
    .addOption(
      new Option('--new-link-key', 'end the links of all mails so far').conflicts([
        ...listsOfStatus,
        'feeds',
        'newFeed',
      ]),
    )
    .action(lazily(async () => (await import('./status.ts')).status));
  command(
    'conflicts',
    'lists all that waits for a person: both values, and what it takes as an answer',
  ).action(lazily(async () => (await import('./conflicts.ts')).conflicts));
  command('resolve', 'settles what waits; the next sync, or the worker, carries it out')
    .argument('[item]', 'the number that `leadsync conflicts` shows, or the company')
    .option('--all', 'all that takes this answer and needs no closer look')
    .option('--requested-by <person>', 'every held edit of this e-mail address')
    .addOption(
      new Option(
        '--use <answer>',
        Object.entries(answers)
          .map(([use, says]) => `${use}: ${says}`)
          .join('; '),
      )
        .choices([...Object.keys(answers), 'target'])
        .makeOptionMandatory(),
    )
    .action(lazily(async () => (await import('./conflicts.ts')).resolve));
  command('why', "shows how a lead's values came about: agreed, held, each write with its rule")
    .argument('<lead>', "part of its company's name, or its id, or the beginning of it")
    .argument('[field]', 'only this field')
    .action(lazily(async () => (await import('./why.ts')).why));
  command('undo', 'shows how the writes of a run would be undone')
    .argument('<run>', 'the number of the run')
    .option('--yes', 'carry it out')
    .option('--out <file>', 'keep the plan in a file, for apply')
    .action(lazily(async () => (await import('./apply.ts')).undo));
  command('forget', 'lists the state of a connection that left the configuration')
    .argument('<name>', 'the connection')
    .option('--yes', 'delete it, for good')
    .action(lazily(async () => (await import('./forget.ts')).forget));
  command('backup', 'writes the whole state into a file; workers may go on')
    .argument('<file>', 'created or replaced atomically; only you can read it')
    .option('--move', 'the state moves: nothing works with it here any more; workers must be stopped')
    .action(lazily(async () => (await import('./backup.ts')).backup));
  command('restore', 'restores the state from a backup; workers must be stopped')
    .argument('<file>', 'a file that `leadsync backup` wrote')
    .option('--replace', 'discard the existing state')
    .action(lazily(async () => (await import('./backup.ts')).restore));
  command('sandbox', 'runs a local Leads service with made-up leads')
    .option('--leads <n>', 'number of leads', '250')
    .option('--faults <spec>', 'faults, for example "429:every=5,retryAfter=1;500:every=7"')
    .option('--rate <spec>', 'rate limit: "10/s", "10/s,burst=50", "10/s,window=60"')
    .option('--port <p>', 'port (default: any free one)')
    .action(lazily(async () => (await import('./sandbox.ts')).sandbox));
  return program;
}

/** What `status` lists instead of its summary. */
const listsOfStatus = ['runs', 'reminders', 'cancelled'];

function examplesOf(name: string): string {
  const lines = (examples[name] ?? []).map(([line, does]) => `  leadsync ${line}\n      ${does}`);
  return lines.length === 0 ? '' : `\nExamples:\n${lines.join('\n')}`;
}
