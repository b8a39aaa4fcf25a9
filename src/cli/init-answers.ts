import { keyCodes } from '../alerts/problems-of.ts';
import { ConfigError } from '../config/mistakes.ts';
import { targetOf } from '../config/environment.ts';
import { defaultIdColumn, fieldMappings } from '../config/config.ts';
import { counted, didYouMean } from '../core/lead/wording.ts';
import { settingOf } from '../config/settings.ts';
import { followUpField, headingKey } from '../core/lead/mapping.ts';
import { canBeIds } from '../core/lead/lead-id.ts';
import { proposeMapping, singleHeadings } from '../core/lead/propose-mapping.ts';
import { explain, LeadsyncError, withoutStop } from '../lib/errors.ts';
import { type Answers, draftOf, isSet, keys, kindOf } from '../setup/setup-files.ts';
import { lookAtService, lookAtTable, tablesIn } from '../setup/look.ts';
import { docsPath } from '../lib/version.ts';
import { never } from '../lib/waiting.ts';
import { stoppedWith } from './stop.ts';

export interface Question {
  readonly message: string;
  /** The option or variable that answers it, for those who have no terminal. */
  readonly flag: string;
  /** One of these is the answer; the first is at hand. Absent: a text, without blanks around it. */
  readonly choices?: readonly { readonly value: string; readonly label: string }[];
  /** Accepted without a terminal, and by `--yes`; prefilled. */
  readonly proposal?: string;
  /** Prefilled, and no more. */
  readonly former?: string;
  /** Greyed out in an empty field. */
  readonly example?: string;
  readonly isSecret?: boolean;
}

export interface Dialogue {
  readonly isTerminal: boolean;
  readonly asked: number;
  /** Throws GoBack; without a terminal and a proposal `usage.init-missing`. */
  ask(question: Question): Promise<string>;
  say(text: string): void;
  /** Shows a fault after which the question comes again; throws it without a terminal. */
  retry(fault: LeadsyncError): void;
}

/** The person wants the question before; or a step (`cause`) was wrong, and comes again. */
export class GoBack extends Error {}

function answersMissing(missing: readonly Question[]): LeadsyncError {
  const what = missing.length === 1 ? 'an answer is missing' : `${missing.length} answers are missing`;
  const help = missing.map(({ flag, message }) => `${flag}: ${message}`).join('\n  ');
  const message = `${what}, and there is no terminal to ask on; nothing was written`;
  return new LeadsyncError('usage.init-missing', message, { help });
}

/** `isYes`: proposals are accepted without a question. `isSilent`: only the result is printed. */
export async function openDialogue(isYes: boolean, isSilent: boolean): Promise<Dialogue> {
  if (process.stdin.isTTY && process.stdout.isTTY && !isSilent) return terminalDialogue(isYes);
  return {
    isTerminal: false,
    asked: 0,
    ask: async (question) => {
      if (question.proposal === undefined) throw answersMissing([question]);
      return question.proposal;
    },
    say: (text) => void (isSilent || process.stdout.write(`${text}\n`)),
    // An answer that fits nowhere is wrong usage; what may go by itself, or is a matter of keys, keeps its code.
    retry: (fault) => {
      const isAnswer = fault.retry === 'never' && !keyCodes.has(fault.code);
      throw isAnswer ? wrongAnswer(withoutStop(fault.message), fault.help) : fault;
    },
  };
}

async function terminalDialogue(isYes: boolean): Promise<Dialogue> {
  const clack = await import('@clack/prompts');
  let [asked, last] = [0, ''];
  const listen = (_: string, key?: { readonly name?: string }) => void (last = key?.name ?? '');
  const how =
    'Esc goes back to the question before, Ctrl-C stops. Nothing is written before the last question.';
  clack.log.message(how);
  return {
    isTerminal: true,
    get asked() {
      return asked;
    },
    async ask({ message, choices, proposal, former = proposal, example: placeholder, isSecret = false }) {
      if (isYes && proposal !== undefined) return proposal;
      asked += 1;
      const shown = { message, ...(former !== undefined && { initialValue: former }) };
      process.stdin.on('keypress', listen);
      const answer = choices
        ? await clack.select({ ...shown, options: [...choices], maxItems: 12 })
        : isSecret
          ? await clack.password({ message })
          : await clack.text({ ...shown, ...(placeholder !== undefined && { placeholder }) });
      process.stdin.off('keypress', listen);
      if (!clack.isCancel(answer)) return answer.trim();
      // The library has one name for both.
      throw last === 'escape' ? new GoBack() : stoppedWith('nothing was written');
    },
    say: (text) => clack.log.message(wrapped(text)),
    retry: (fault) => clack.log.error(wrapped(`${explain(fault)} [${fault.code}]`)),
  };
}

/** With lines that end between words, beside the line at the left; the terminal would end them anywhere. */
function wrapped(text: string): string {
  const width = Math.max(20, (process.stdout.columns || 80) - 4);
  return text.replaceAll(new RegExp(`(?![^\\n]{1,${width}}$)([^\\n]{1,${width}}) `, 'gm'), '$1\n');
}

export const variables = {
  leadsUrl: 'LEADS_BASE_URL',
  leadsKeyFile: 'LEADS_API_KEY_FILE',
  target: 'TARGET',
  webdavUser: 'WEBDAV_USER',
  webdavPasswordFile: 'WEBDAV_PASSWORD_FILE',
  msgraphTenant: 'MSGRAPH_TENANT',
  msgraphClientId: 'MSGRAPH_CLIENT_ID',
  msgraphClientSecretFile: 'MSGRAPH_CLIENT_SECRET_FILE',
  remind: 'REMINDER_TO',
} as const;

export interface Given extends Pick<Answers, 'connection' | 'env' | 'part'> {
  readonly idColumn: string | undefined;
  /** Column by field; an empty one leaves the field out. */
  readonly map: ReadonlyMap<string, string>;
  readonly isYes: boolean;
}

/** `isIdNew`: the heading of the id column is still to be written. */
export type Found = Answers & { readonly isIdNew: boolean };

const messages: Readonly<Record<string, string>> = {
  LEADS_BASE_URL: 'Address of the Leads service',
  LEADS_API_KEY: 'Key of the Leads service (Settings, API keys)',
  TARGET:
    'The table: a path (.xlsx, .csv; also of a new file), https://…/leads.xlsx (WebDAV), a sharing link of SharePoint, the address of a Google spreadsheet, hubspot or postgres-table:TABLE',
  REMINDER_TO: 'Who gets reminders of follow-ups? (several with commas; empty: nobody)',
};

/** What a variable is asked with, by its option if it has one. */
function questionOf(name: string): Question {
  const [option] = Object.entries(variables).find(([, of]) => of === name || of === `${name}_FILE`) ?? [];
  const flag = option?.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
  const { meaning = '', secret: isSecret = false } = settingOf(name) ?? {};
  const message = messages[name] ?? `${meaning.split(/[:.] /, 1)[0] ?? ''} (${name})`;
  return { message, flag: flag === undefined ? name : `--${flag} (or ${name})`, isSecret };
}

export function wrongAnswer(message: string, help?: string): LeadsyncError {
  const more = help === undefined ? {} : { help };
  const said = /nothing was written$/i.test(message) ? message : `${message}; nothing was written`;
  return new LeadsyncError('usage.init-answer', said, more);
}

/** A heading may have line breaks or be long; a sheet may have hundreds. */
const shown = (text: string): string => text.replaceAll(/\s+/g, ' ').trim().slice(0, 40);
const someOf = (all: readonly string[]): string =>
  [...all.slice(0, 15).map(shown), ...(all.length > 15 ? [`${all.length - 15} more`] : [])].join(', ');
const choice = (value: string, label = shown(value)) => ({ value, label });

/** One of them, written otherwise perhaps. */
function oneOf(all: readonly string[], written: string, what: string): string {
  const found = all.find((one) => headingKey(one) === headingKey(written));
  if (found !== undefined) return found;
  const help = `There are: ${someOf(all)}`;
  throw wrongAnswer(`${what} ${JSON.stringify(written)}${didYouMean(written, all)}`, help);
}

const noColumn = 'the table has no single free column headed';
const [write, again, other, none] = ['\0write', '\0again', '\0other', '\0none'];

/** After these the key is asked for again, after any other fault the place. */
const isOfKey = ({ code }: LeadsyncError): boolean =>
  /^(leads\.(unauthenticated|forbidden|bad-key)|target\.(unauthenticated|credentials-\w+))$/.test(code);

/** The variables without which a place cannot be opened; a WebDAV server may want no login. */
function neededFor(env: NodeJS.ProcessEnv, isRefused = false): readonly string[] {
  if (kindOf(env) === 'webdav') return isRefused ? ['WEBDAV_USER', 'WEBDAV_PASSWORD'] : [];
  const [, ...names] = keys[kindOf(env)];
  return names;
}

/** Throws `usage.init-missing` with all answers that are missing without a terminal. */
export function refuseMissing({ env }: Given): void {
  const names = ['LEADS_BASE_URL', 'LEADS_API_KEY', ...(env['TARGET'] ? neededFor(env) : ['TARGET'])];
  const missing = names.filter((name) => !isSet(env, name)).map(questionOf);
  if (missing.length > 0) throw answersMissing(missing);
}

export async function askAll(ui: Dialogue, given: Given): Promise<Found> {
  const { steps, found } = interview(ui, given);
  const asked: number[] = [];
  let isAgain = false;
  for (let at = 0; at < steps.length; ) {
    const before = ui.asked;
    try {
      await steps[at]?.(isAgain);
      if (ui.asked > before) asked.push(at);
      [at, isAgain] = [at + 1, false];
    } catch (error) {
      if (!(error instanceof GoBack)) throw error;
      // From the second question of a step to its first one.
      if (error.cause !== undefined) at = steps.findIndex((step) => step === error.cause);
      else if (ui.asked - before < 2) at = asked.pop() ?? at;
      isAgain = true;
    }
  }
  return found();
}

function interview(ui: Dialogue, { env, map, isYes, ...given }: Given) {
  let service = { ids: [], isAll: false, fields: [] } as Awaited<ReturnType<typeof lookAtService>>;
  let table = { parts: [], headings: null, rows: [], idCell: '' } as Awaited<ReturnType<typeof lookAtTable>>;
  let { part } = given;
  let [idColumn, isIdNew] = ['', false];
  let fields: Answers['fields'] = [];

  /** Asks for a variable until it is right, unless it is so already. */
  const askFor = async (name: string, isAgain: boolean, more: Partial<Question> = {}): Promise<void> => {
    const question = { ...questionOf(name), ...more };
    let fault = isSet(env, name) ? await mistakeIn(env, name) : null;
    if (isSet(env, name) && fault === null && !isAgain) return;
    do {
      if (fault !== null) ui.retry(fault);
      env[name] = await ui.ask({ ...question, ...(env[name] && { former: env[name] }) });
      delete env[`${name}_FILE`];
      fault = await mistakeIn(env, name);
    } while (fault !== null);
  };

  const askKey = async (isAgain: boolean): Promise<void> => {
    await askFor('LEADS_API_KEY', isAgain);
    try {
      const { LEADS_BASE_URL, LEADS_API_KEY, LEADS_API_KEY_FILE } = env;
      const leads = { LEADS_BASE_URL, LEADS_API_KEY, LEADS_API_KEY_FILE };
      service = await lookAtService(await draftOf({ ...leads, TARGET: 'x.csv' }), never);
    } catch (error) {
      if (!(error instanceof LeadsyncError)) throw error;
      ui.retry(error);
      throw new GoBack('again', { cause: isOfKey(error) ? askKey : askAddress });
    }
    const found = `${counted(service.ids.length, 'lead')}${service.isAll ? '' : ' and more'}`;
    ui.say(`The service answers, and the key may list leads: ${found}.`);
  };

  const look = async (): Promise<void> => void (table = await lookAtTable(await draftOf(env), part, never));
  const askPlace = async (): Promise<void> => {
    const files = (await tablesIn(process.cwd())).map((file) => choice(file));
    const choices = [...files, choice(other, 'Somewhere else, or in a new file')];
    const question = { message: 'Where does the team keep its table?', flag: '--target', choices };
    const chosen = files.length === 0 ? other : await ui.ask(question);
    const former = env['TARGET'] || './leads.xlsx';
    const typed = chosen === other ? await ui.ask({ ...questionOf('TARGET'), former }) : chosen;
    // In quotes as some programs copy it.
    env['TARGET'] = typed.replace(/^(["'])(.*)\1$/, '$2');
    ({ part } = given);
  };

  const askTable = async (isAgain: boolean): Promise<void> => {
    for (let wrong = isAgain ? 'place' : ''; ; )
      try {
        if (wrong === 'place' || !env['TARGET']) await askPlace();
        const needed = neededFor(env, wrong === 'key');
        if (wrong === 'key' || needed.some((name) => !isSet(env, name)))
          ui.say(`How to get what it asks for: ${docsPath(keys[kindOf(env)][0])}`);
        for (const name of needed) await askFor(name, wrong === 'key');
        return await look();
      } catch (error) {
        if (!(error instanceof LeadsyncError) || error.code === 'process.stopped') throw error;
        ui.retry(error);
        wrong = isOfKey(error) && kindOf(env) !== 'file' ? 'key' : 'place';
      }
  };

  const askPart = async (isAgain: boolean): Promise<void> => {
    const isSpreadsheet = kindOf(env) === 'google-sheets';
    const named = part ?? targetOf({ path: env['TARGET'] })['tab'];
    if ((named !== undefined && !isAgain) || (table.parts.length < 2 && !isSpreadsheet)) return;
    const isNew = isSpreadsheet && !table.parts.includes('Leads');
    const choices = [...table.parts, ...(isNew ? ['Leads'] : [])].map((one) => choice(one));
    part = await ui.ask({ message: 'Which sheet?', flag: '--sheet', choices });
    await look();
  };

  const usualFields = () => fieldMappings({ target: { type: kindOf(env) as 'hubspot' } });
  const allFields = () => [...new Set([...usualFields().map(({ field }) => field), ...service.fields])];

  const askIdColumn = async (isAgain: boolean): Promise<void> => {
    const { headings, rows, idCell } = table;
    const usual = defaultIdColumn(kindOf(env));
    [idColumn, isIdNew] = [given.idColumn ?? usual, false];
    if (headings === null) return;
    const cellsOf = (heading: string) => rows.map((row) => row[headings.indexOf(heading)] ?? '');
    const mayBe = (heading: string) => canBeIds(cellsOf(heading), service.ids, service.isAll);
    const single = singleHeadings(headings);
    const { id } = proposeMapping(headings, allFields());
    const named = given.idColumn && oneOf(single, given.idColumn, noColumn);
    const likely = named ?? (id?.isSure === true ? id.heading : null);
    if (likely !== null && mayBe(likely) && !isAgain) return void (idColumn = likely);
    const isTaken = headings.some((heading) => headingKey(heading) === headingKey(usual));
    const heading = isTaken ? `${usual} (leadsync)` : usual;
    const isFile = ['file', 'webdav', 'msgraph'].includes(kindOf(env));
    const how = kindOf(env) === 'postgres-table' ? idCell : `write ${JSON.stringify(heading)} into ${idCell}`;
    const not = likely === null || mayBe(likely) ? '' : `: those in "${shown(likely)}" are none`;
    const missing = `no column of the table has ids of the Leads service${not}`;
    const what = `leadsync keeps the id of each row's lead in a column`;
    if (!ui.isTerminal && !(isYes && isFile)) {
      const help = `${what}: ${how}${isFile ? ', or --yes does it' : ''}.`;
      throw new LeadsyncError('usage.init-missing', `${missing}; nothing was written`, { help });
    }
    ui.say(`${what}. So far ${missing}.`);
    const mayHave = (one: string) => mayBe(one) && (one === id?.heading || cellsOf(one).some(Boolean));
    const choices = [
      ...(isFile ? [choice(write, `Nowhere yet: ${how}`)] : []),
      choice(again, isFile ? 'I have written it myself: look again' : `Look again, when I did this: ${how}`),
      ...single.filter(mayHave).map((one) => choice(one, `In ${JSON.stringify(shown(one))}`)),
    ];
    const proposed = isFile ? { proposal: write } : {};
    const answer = await ui.ask({ message: 'Where are the ids?', flag: '--id-column', choices, ...proposed });
    if (answer === again) {
      await look();
      return askIdColumn(false);
    }
    [idColumn, isIdNew] = answer === write ? [heading, true] : [answer, false];
  };

  /** Shows what is mapped and what is not; a person may change it until it is right. */
  const askMapping = async (): Promise<void> => {
    const { headings } = table;
    const all = allFields();
    for (const field of map.keys()) oneOf(all, field, '--map: leads have no field');
    if (headings === null) {
      const usual = usualFields().map(({ field, column }) => [field, column] as const);
      fields = [...new Map([...usual, ...map])].filter(([, column]) => column !== '');
      const names = [idColumn, ...fields.map(([, column]) => column)].join(', ');
      return ui.say(`The first sync makes what is missing of these columns: ${names}.`);
    }
    const chosen = new Map<string, string>();
    const left = () => {
      const used = [idColumn, ...chosen.values()].map(headingKey);
      return singleHeadings(headings).filter((heading) => !used.includes(headingKey(heading)));
    };
    for (const [field, column] of map) if (column !== '') chosen.set(field, oneOf(left(), column, noColumn));
    const guesses = new Map<string, string>();
    for (const [field, match] of proposeMapping(headings, all).fields) {
      if (match === null || map.has(field) || !left().includes(match.heading)) continue;
      if (!match.isSure) guesses.set(field, match.heading);
      if (match.isSure || ui.isTerminal || isYes) chosen.set(field, match.heading);
    }
    for (;;) {
      const wide = Math.max(...all.map((field) => field.length));
      const lines = [...chosen].map(([field, column]) => {
        const isGuess = guesses.get(field) === column;
        return `${field.padEnd(wide)}  ${shown(column)}${isGuess ? ' (a guess)' : ''}`;
      });
      const out = all.filter((field) => !chosen.has(field));
      const open = [...guesses].filter(([field]) => !chosen.has(field)).map((one) => `"${one.join('=')}"`);
      const unsure = open.length === 0 ? '' : ` (not sure: --map ${open.join(' ')})`;
      const rest = [
        ...(out.length === 0 ? [] : [`Left out: ${out.join(', ')}${unsure}`]),
        ...(left().length === 0 ? [] : [`Columns left alone: ${someOf(left())}`]),
      ];
      ui.say([`Lead field and column (ids: ${shown(idColumn)})`, ...lines, ...rest].join('\n'));
      const choices = [choice(none, 'Yes'), ...all.map((field) => choice(field, `Change ${field}`))];
      const change = await ui.ask({ message: 'Is this right?', flag: '--map', proposal: none, choices });
      if (change === none && chosen.size > 0) break;
      if (change === none) ui.retry(wrongAnswer('no field of a lead has a column: --map FIELD=HEADING'));
      else {
        chosen.delete(change);
        guesses.delete(change);
        const columns = [...left().map((heading) => choice(heading)), choice(none, 'none: leave it out')];
        const message = `Which column has the ${change}?`;
        const column = await ui.ask({ message, flag: '--map', choices: columns });
        if (column !== none) chosen.set(change, column);
      }
    }
    fields = [...chosen].toSorted(([, one], [, two]) => headings.indexOf(one) - headings.indexOf(two));
  };

  const isDated = () => fields.some(([field]) => field === followUpField);

  const askRecipients = async (isAgain: boolean): Promise<void> => {
    if (!isDated()) return ui.say('No reminders: the date of the next follow-up has no column.');
    // Nobody by an option, or the person's answer.
    if (env['REMINDER_TO'] !== '' || isAgain)
      await askFor('REMINDER_TO', isAgain, { proposal: '', example: 'anna@example.com, ben@example.com' });
    if (isSet(env, 'REMINDER_TO') && !isSet(env, 'SMTP_URL'))
      ui.say('There is no mail server (SMTP_URL): reminders become files in data/outbox.');
  };

  const example = { example: 'https://api.example.com' };
  const askAddress = (isAgain: boolean) => askFor('LEADS_BASE_URL', isAgain, example);
  const found = (): Found => {
    const { connection } = given;
    const all = isDated() ? env : { ...env, REMINDER_TO: '', REMINDER_TO_FILE: '' };
    return { connection, env: all, part, idColumn, isIdNew, fields, hasRows: table.headings !== null };
  };
  return { steps: [askAddress, askKey, askTable, askPart, askIdColumn, askMapping, askRecipients], found };
}

/** What is wrong with a variable by the rules of its setting; null: nothing. */
async function mistakeIn(env: NodeJS.ProcessEnv, name: string): Promise<LeadsyncError | null> {
  try {
    await draftOf({ LEADS_BASE_URL: 'https://leads.invalid', TARGET: 'x.csv', ...env });
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    const own = error.mistakes.find(({ where }) => where === name || where === `${name}_FILE`);
    if (own !== undefined) return wrongAnswer(`${questionOf(name).flag} ${withoutStop(own.message)}`);
  }
  return null;
}
