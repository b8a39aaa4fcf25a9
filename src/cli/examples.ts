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
