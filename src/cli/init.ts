import { relative, resolve } from 'node:path';
import { connectionNamePattern } from '../config/schema.ts';
import { variablesOfProcess } from '../config/load.ts';
import { codeOf, LeadsyncError } from '../lib/errors.ts';
import {
  draftOf,
  assertLoads,
  filesToWrite,
  setupFiles,
  type SetupFiles,
  writeSetup,
} from '../setup/setup-files.ts';
import { writeIdHeading } from '../setup/look.ts';
import { applyLines, doable } from './apply.ts';
import { type CheckLine, describeLine } from './check-target.ts';
import { never } from '../lib/waiting.ts';
import { checkApp } from './check.ts';
import { isConfirmed } from './terminal.ts';
import { describePlan, planJson, tellReport } from './plan-output.ts';
import {
  askAll,
  type Dialogue,
  type Found,
  type Given,
  openDialogue,
  refuseMissing,
  variables,
  wrongAnswer,
} from './init-answers.ts';
import { exitCodeFor, exitCodes, print, printJson } from './output.ts';
import { type MadePlan, makePlanNow } from './plan.ts';
import { stoppedWith, stopping, unlessStopped } from './stop.ts';
import { withApp } from './with-app.ts';

export interface InitOptions extends Partial<Record<keyof typeof variables, string>> {
  readonly sheet?: string;
  readonly idColumn?: string;
  readonly map?: readonly string[];
  readonly name?: string;
  readonly out?: string;
  readonly yes?: boolean;
  readonly json?: boolean;
}

/**
 * `leadsync init`: asks for what a first connection needs, tries it, writes leadsync.yaml, shows the first plan, and carries it out
 * if that is wanted. What an option or a variable answers is not asked. Writes nothing before the last question is answered.
 */
export async function init(options: InitOptions): Promise<void> {
  const given = readGiven(options);
  const ui = await openDialogue(given.isYes, options.json === true);
  if (!ui.isTerminal) refuseMissing(given);
  const yamlFile = resolve(options.out ?? 'leadsync.yaml');
  const written: string[] = [];
  try {
    const found = await unlessStopped(() => askAll(ui, given));
    const files = setupFiles(found, yamlFile);
    await assertLoads(files, yamlFile, found.env);
    await askToReplace(ui, files, yamlFile);
    if (found.isIdNew) {
      await addHeading(ui, found);
      written.push(`the heading ${JSON.stringify(found.idColumn)} in ${found.env['TARGET']}`);
    }
    const paths = await writeSetup(files);
    written.push(...paths.filter((path) => !path.endsWith('.gitignore')).map(shownPath));
    ui.say(`Written: ${written.join(', ') || 'nothing new'}. Only you can read the files.`);
    ui.say('Deletes ask first: npx leadsync conflicts (onRowDeleted and onLeadDeleted in leadsync.yaml).');
    await showFirstPlan(found.connection, yamlFile, written, ui, options.json === true);
  } catch (error) {
    if (codeOf(error) !== 'process.stopped') throw error;
    const stays = `${written.join(', ')} stay; leadsync sync goes on`;
    throw stoppedWith(written.length === 0 ? 'nothing was written' : stays);
  }
}

/** What is answered before anything is asked: options go before variables of the environment. Throws `usage.init-answer`. */
export function readGiven(options: InitOptions): Given {
  const env = variablesOfProcess();
  for (const [option, name] of Object.entries(variables) as [keyof typeof variables, string][]) {
    if (options[option] === undefined) continue;
    for (const twin of [name, name.replace(/_FILE$/, ''), `${name}_FILE`]) delete env[twin];
    env[name] = options[option] === 'none' && option === 'remind' ? '' : options[option];
  }
  const { name: connection = 'default', sheet: part, idColumn, map = [], yes: isYes = false } = options;
  if (!connectionNamePattern.test(connection))
    throw wrongAnswer('--name must be a name of 1 to 64 letters from a to z, digits, "_" and "-"');
  return { connection, env, part, idColumn, map: new Map(map.map(readMapped)), isYes };
}

function readMapped(written: string): [string, string] {
  const [field = '', column] = written.split(/=(.*)/s);
  if (field.trim() !== '' && column !== undefined) return [field.trim(), column.trim()];
  throw wrongAnswer('--map takes FIELD=HEADING, such as companyName=Firma, or FIELD= to leave the field out');
}

const shownPath = (path: string): string => relative(process.cwd(), path) || path;

/** Throws `usage.init-exists` when a file would have to be replaced and nobody says yes. */
async function askToReplace(ui: Dialogue, files: SetupFiles, yamlFile: string): Promise<void> {
  const found = (await filesToWrite(files, true)).map(shownPath);
  if (found.length === 0) return;
  const what = `already there, with other content: ${found.join(', ')}`;
  if (ui.isTerminal && (await isConfirmed(`${what}. Replace, and keep the old as FILE.old-…?`))) return;
  throw new LeadsyncError('usage.init-exists', `${what}; nothing was written`, {
    help: `Remove what you do not need, or name another place with --out FOLDER/leadsync.yaml. This would be leadsync.yaml:\n\n${files.get(yamlFile)}`,
  });
}

/** Writes the heading of the id column; a person may close the file in another program and try again. */
async function addHeading(ui: Dialogue, found: Found): Promise<void> {
  const names = { heading: found.idColumn, beside: found.fields[0]?.[1] ?? '' };
  try {
    await writeIdHeading(await draftOf(found.env), found.part, names, never);
  } catch (error) {
    if (!(error instanceof LeadsyncError)) throw error;
    ui.retry(error);
    if (!(await isConfirmed('Try again?'))) throw error;
    await addHeading(ui, found);
  }
}

async function showFirstPlan(
  connection: string,
  yamlFile: string,
  written: readonly string[],
  ui: Dialogue,
  isJson: boolean,
): Promise<void> {
  const config = shownPath(yamlFile) === 'leadsync.yaml' ? '' : ` --config ${shownPath(yamlFile)}`;
  const tell = isJson ? () => {} : print;
  const checks: CheckLine[] = [];
  let made: MadePlan | null = null;
  await withApp({ config: yamlFile }, async (app) => {
    await unlessStopped(async () => {
      for await (const line of checkApp(app)) {
        checks.push(line);
        if (!line.ok || line.warning) tell(describeLine(line));
      }
    });
    process.exitCode = exitCodes.failed;
    if (!checks.every(({ ok }) => ok))
      return tell(`Not everything works yet. When it is mended: npx leadsync check${config}`);
    const plan = await makePlanNow(app, connection, {}, stopping);
    made = plan;
    tell(describePlan(plan, plan.timeZone, { detail: 'summary' }));
    const { id, refusals, status } = plan.run;
    const lines = doable(plan.actions);
    // What it asks before the first sync is no failure of the set-up.
    const isAsked = status !== 'failed' && refusals.every(({ code }) => code === 'first-leads');
    process.exitCode = isAsked && refusals.length > 0 ? exitCodes.done : exitCodeFor([plan]);
    if (lines.length > 0) tell(`Each change, a line:   npx leadsync plan --all${config}`);
    if (ui.isTerminal && isAsked && lines.length > 0 && (await isConfirmed('Carry it out?'))) {
      const report = await applyLines(app, connection, id, lines, { allow: ['first-leads'] }, stopping);
      tell(await tellReport(app.pool, report, plan));
      process.exitCode = exitCodeFor([report]);
    } else if (isAsked) tell(`Carry it out:          npx leadsync sync${config}`);
    tell(`And on its schedule:   npx leadsync worker${config}`);
  });
  if (isJson) printJson({ written, checks, plan: made && planJson(made) });
}
