import { existsSync } from 'node:fs';
import { dirname, relative, resolve } from 'node:path';
import { envFileName } from '../config/env-file.ts';
import { counted } from '../core/lead/counted.ts';
import { LeadsyncError } from '../errors.ts';
import type { Answers } from '../setup/answers.ts';
import { setupFiles, type SetupFiles } from '../setup/setup-files.ts';
import { type TriedService, tryService } from '../setup/try-access.ts';
import { assertLoads, refuseExisting, writeSetup } from '../setup/write-setup.ts';
import { type CheckLine, describeLine, never } from './check-line.ts';
import { checkApp } from './check.ts';
import { askColumns, followUp } from './init-columns.ts';
import { answersMissing, type Dialogue, openDialogue } from './init-dialogue.ts';
import { type Given, type InitOptions, machineZone, readGiven } from './init-given.ts';
import { Interview } from './init-interview.ts';
import { askPlace, kinds } from './init-place.ts';
import { lineOf, type QuestionName } from './init-questions.ts';
import { askReminders, askSchedule, askTimeZone } from './init-rest.ts';
import { exitCodeFor, exitCodes, print, printJson } from './output.ts';
import { describePlan, planJson } from './plan-output.ts';
import { type MadePlan, makePlanNow } from './plan.ts';
import { stopping, unlessStopped } from './stop.ts';
import { withApp } from './with-app.ts';

/** A longer plan is shown in numbers. */
const mostActionsShown = 20;

/**
 * `leadsync init`: asks for what a first connection needs, tries it, writes leadsync.yaml, and shows the first plan. What an
 * option or a variable answers is not asked. Never writes over a file, nor before the last question is answered.
 */
export async function init(options: InitOptions): Promise<void> {
  const { json: isJson = false } = options;
  const given = readGiven(options);
  const ui = await openDialogue(given.isYes, isJson);
  if (!ui.isTerminal) refuseMissing(given);
  const yamlFile = resolve(options.out ?? (await askFile(ui)));
  const folder = dirname(yamlFile);
  const answers = await unlessStopped(() => askAll(ui, given));
  const files = setupFiles(answers, folder);
  await assertLoads(files, answers);
  await refuseExisting(files, yamlFile);
  await confirmWriting(ui, files, yamlFile);
  const written = await writeSetup(files, yamlFile);
  ui.say(`Written: ${written.join(', ') || 'nothing new'}. Only you can read them.`);
  await showFirstPlan(answers.connection, yamlFile, written, isJson);
}

/** Where leadsync.yaml goes; another folder when there is one here. */
async function askFile(ui: Dialogue): Promise<string> {
  if (!existsSync('leadsync.yaml') || !ui.isTerminal) return 'leadsync.yaml';
  return ui.text({
    message: 'leadsync.yaml is here already and stays as it is. Where does the new one go?',
    flag: '--out',
    proposal: 'new/leadsync.yaml',
    check: (answer) =>
      answer === '' || existsSync(answer) ? 'must be the path of a file that does not exist yet' : null,
  });
}

/** Asks for what is not given, and tries it; nothing is written. */
export async function askAll(ui: Dialogue, given: Given): Promise<Answers> {
  const interview = new Interview(ui, given.answers);
  const { fields } = await askService(interview);
  const place = await askPlace(interview, given);
  const columns = await askColumns(ui, given, place, fields);
  const schedule = await askSchedule(ui, given);
  const timeZone = await askTimeZone(ui, given);
  const isDated = columns.fields.some(([field]) => field === followUp);
  const reminders = await askReminders(interview, given, isDated);
  return {
    connection: given.name,
    leadsUrl: await interview.text('LEADS_BASE_URL'),
    leadsKey: await interview.secret('LEADS_API_KEY'),
    target: place.target,
    ...columns,
    schedule,
    timeZone,
    ...reminders,
  };
}

const places =
  './leads.xlsx, ./leads.csv, https://…/leads.xlsx (WebDAV), a sharing link of SharePoint, google-sheets:SPREADSHEET_ID/TAB, hubspot or postgres-table:TABLE; with --msgraph-drive the path in that library';

/** Throws `usage.init-missing` with all answers that are missing without a terminal. */
function refuseMissing({ answers, kind, isYes, schedule, timeZone, recipients }: Given): void {
  const has = (name: QuestionName): boolean => answers.has(name);
  const needed: readonly QuestionName[] = [
    'LEADS_BASE_URL',
    'LEADS_API_KEY',
    ...(kind === undefined ? [] : kinds[kind].needs(has)),
  ];
  const proposed = {
    '--schedule …: proposed: nightly': schedule,
    [`--time-zone …: proposed: ${machineZone()}`]: timeZone,
    '--remind ADDRESS,…: proposed: none (--remind none)': recipients,
  };
  const lines = [
    ...needed.filter((name) => !has(name)).map(lineOf),
    ...(kind === undefined ? [`--target … (or TARGET): ${places}`] : []),
    ...Object.entries(proposed).flatMap(([line, answer]) => (isYes || answer !== undefined ? [] : [line])),
  ];
  if (lines.length > 0) throw answersMissing(lines);
}

/** Tries address and key with a real request. */
async function askService(interview: Interview): Promise<TriedService> {
  const names = { key: ['LEADS_API_KEY'], place: ['LEADS_BASE_URL'] } as const;
  return interview.untilItWorks(names, async () => {
    const url = await interview.text('LEADS_BASE_URL');
    const { value: key } = await interview.secret('LEADS_API_KEY');
    const service = await tryService(url, key, never);
    const more = service.isAll ? '' : ' and more';
    interview.ui.say(
      `The service answers, and the key may list leads: ${counted(service.leads, 'lead')}${more}.`,
    );
    return service;
  });
}

/** Shows what will be written; without a terminal, or with `--yes`, nobody is asked. */
async function confirmWriting(ui: Dialogue, { yaml, secrets }: SetupFiles, yamlFile: string): Promise<void> {
  if (!ui.isTerminal) return;
  ui.say(yaml.trimEnd());
  const more = [envFileName, ...secrets.keys()].join(', ');
  const answer = await ui.choose(
    { message: `Write this to ${shownPath(yamlFile)}?`, flag: '--yes', proposal: 'yes' },
    [
      { value: 'yes', label: 'Yes', hint: `and ${more}` },
      { value: 'no', label: 'No: stop, and leave nothing behind' },
    ],
  );
  if (answer === 'no') throw new LeadsyncError('init.stopped', 'stopped; nothing was written');
}

const shownPath = (path: string): string => relative(process.cwd(), path) || path;

/** Checks what was written, plans, and names the next command. */
async function showFirstPlan(
  connection: string,
  yamlFile: string,
  written: readonly string[],
  isJson: boolean,
): Promise<void> {
  const config = shownPath(yamlFile) === 'leadsync.yaml' ? '' : ` --config ${shownPath(yamlFile)}`;
  const tell = isJson ? () => {} : print;
  const checks: CheckLine[] = [];
  let plan: MadePlan | null = null;
  await withApp({ config: yamlFile }, async (app) => {
    await unlessStopped(async () => {
      for await (const line of checkApp(app)) {
        checks.push(line);
        tell(describeLine(line));
      }
    });
    if (!checks.every(({ ok }) => ok)) return;
    tell();
    plan = await makePlanNow(app, connection, {}, stopping);
    const detail = plan.actions.length > mostActionsShown ? 'summary' : 'usual';
    tell(describePlan(plan, plan.timeZone, { detail }));
  });
  const made = plan as MadePlan | null;
  if (isJson) printJson({ written, checks, plan: made && planJson(made) });
  // What it asks before the first sync is no failure of the set-up.
  const codes = made?.run.refusals.map(({ code }) => code) ?? [];
  const isAsked = codes.length > 0 && codes.every((code) => code === 'first-leads');
  process.exitCode = made === null ? exitCodes.failed : isAsked ? exitCodes.done : exitCodeFor([made]);
  tell();
  if (made === null) {
    tell(
      `leadsync.yaml is written, but not everything works yet. When it is mended: npx leadsync check${config}`,
    );
    return;
  }
  if (made.actions.length > mostActionsShown) tell(`Each change, a line: npx leadsync plan${config}`);
  tell(`Carry it out now:      npx leadsync sync${config}`);
  tell(`And on its schedule:   npx leadsync worker${config}`);
}
