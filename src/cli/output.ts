import type { CommanderError } from 'commander';
import { keyCodes } from '../alerts/problems-of.ts';
import { ConfigError } from '../config/mistakes.ts';
import { headingOf, type Headings } from '../core/lead/mapping.ts';
import { asOutage } from '../postgres/database-outage.ts';
import { codeOf, faultText, LeadsyncError, type Problem } from '../lib/errors.ts';
import { unsaidPlaces } from '../ops/run-words.ts';
import type { RunStatus } from '../store/runs.ts';
import { docsPage } from './docs-page.ts';
import { userInfo } from 'node:os';
import { type Author, authorWords } from '../core/lead/author.ts';
import type { Conflict } from '../store/conflicts.ts';
import { visibleText } from '../lib/foreign-text.ts';

/** Exit codes of the contract (docs/architecture.md 8). */
export const exitCodes = {
  done: 0,
  failed: 1,
  usage: 2,
  incomplete: 3,
  stopped: 4,
  interrupted: 130,
} as const;

const byStatus: Readonly<Record<RunStatus, number>> = {
  running: exitCodes.failed,
  succeeded: exitCodes.done,
  partial: exitCodes.incomplete,
  failed: exitCodes.failed,
  stopped: exitCodes.stopped,
};

const gravity: readonly number[] = [
  exitCodes.done,
  exitCodes.incomplete,
  exitCodes.failed,
  exitCodes.stopped,
];

/** The exit code for several runs: the worst one's. A refused key also needs a person. */
export function exitCodeFor(
  runs: readonly { readonly status: RunStatus; readonly problems: readonly Pick<Problem, 'code'>[] }[],
): number {
  const codes = runs.map(({ status, problems }) =>
    status === 'failed' && problems.some(({ code }) => keyCodes.has(code))
      ? exitCodes.stopped
      : byStatus[status],
  );
  return gravity.findLast((code) => codes.includes(code)) ?? exitCodes.done;
}

export function print(lines = ''): void {
  printExactly(fitted(lines, process.stdout));
}

function printExactly(text: string): void {
  process.stdout.write(`${harmless(text)}\n`);
}

function fitted(text: string, { isTTY, columns }: Pick<NodeJS.WriteStream, 'isTTY' | 'columns'>): string {
  return isTTY && columns > 0 ? folded(text, columns) : text;
}

/** Without terminal commands and bidirectional marks: anybody may fill cells. They are escaped as in JSON, so that printed JSON stays the same. */
function harmless(text: string): string {
  return text.replaceAll(
    /(?![\n\t])[\p{Cc}\p{Bidi_Control}]/gu,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/** A problem for people: company, what and where (unless the sentence has it), and the code. */
export function describeProblem(
  problem: Problem,
  companyName?: string | null,
  fields: Headings = [],
): string {
  const { code, message, field } = problem;
  const company = shownCompany(companyName);
  const name = company === null || message.includes(company) ? '' : `${company}: `;
  const heading = field === undefined ? '' : headingOf(fields, field);
  const unsaid = unsaidPlaces(problem, company, heading);
  return `${name}${message}${unsaid.length === 0 ? '' : ` (${unsaid.join(', ')})`} [${code}]`;
}

export function printJson(value: object): void {
  printExactly(JSON.stringify(value));
}

/** The same for one result per connection: a single one as it is, several in an object under `name`. */
export function printEachJson(name: string, results: readonly object[]): void {
  const [only] = results;
  printJson(only !== undefined && results.length === 1 ? only : { [name]: results });
}

export function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`;
}

/** Throws `usage.not-a-number` unless it is whole and in these bounds. */
export function wholeNumber(option: string, text: string, least: number, most: number): number {
  const number = Number(text);
  if (/^\d+$/.test(text) && number >= least && number <= most) return number;
  throw new LeadsyncError(
    'usage.not-a-number',
    `${option} takes a whole number from ${least} to ${most}, not ${JSON.stringify(text)}`,
  );
}

let isLog = false;

/** From now on stderr is a log, which programs read: unless it is a terminal, an error is one JSON object as well. */
export function reportToLog(): void {
  isLog = !process.stderr.isTTY;
}

export function reportError(thrown: unknown, json: boolean): void {
  const error = asOutage(thrown);
  const known = error instanceof LeadsyncError;
  process.exitCode =
    error instanceof ConfigError || (known && /^(config|usage|sandbox)\./.test(error.code))
      ? exitCodes.usage
      : known && (error.code === 'connection.paused' || keyCodes.has(error.code))
        ? exitCodes.stopped
        : exitCodes.failed;
  const code = known ? error.code : 'internal';
  const message = faultText(error);
  const help = known ? error.help : undefined;
  if (json) printJson({ error: { code, message, ...(help !== undefined && { help }) } });
  const lines = [`leadsync: ${message} [${code}]`, ...(help === undefined ? [] : [`  ${help}`])];
  const stack = !known && error instanceof Error ? error.stack : undefined;
  const page = docsPage(code);
  const more = page === null ? [] : [`  More: ${page}`];
  if (isLog) {
    const msg = [...lines, ...more].map((line) => line.trim()).join(' ');
    process.stderr.write(`${JSON.stringify({ level: 50, time: Date.now(), code, stack, msg })}\n`);
    return;
  }
  if (stack !== undefined) lines.push(stack);
  process.stderr.write(`${harmless(fitted([...lines, ...more].join('\n'), process.stderr))}\n`);
}

/** After commander's own message or help: the object of `--json` and the exit code. */
export function reportUsage(error: CommanderError, json: boolean): void {
  process.exitCode = error.exitCode === 0 ? exitCodes.done : exitCodes.usage;
  if (error.exitCode === 0 || !json) return;
  const message =
    error.code === 'commander.help' ? 'no command was given' : error.message.replace(/^error: /, '');
  printJson({ error: { code: 'usage.invalid', message, help: 'leadsync --help lists the commands' } });
}

/**
 * Half a sync would be worse than an unread line: the command ends its work. Whoever reads may go away (`| head`); output lost otherwise, as
 * on a full disk, fails the command.
 */
export function surviveLostOutput(): void {
  let isLost = false;
  process.stdout.on('error', (error: unknown) => {
    const code = codeOf(error);
    if (isLost || code === 'EPIPE') return;
    isLost = true;
    process.stderr.write(
      `leadsync: the output cannot be written (${code ?? String(error)}); the command goes on without it\n`,
    );
    process.on('exit', () => {
      process.exitCode = exitCodes.failed;
    });
  });
  // There is nowhere to say it.
  process.stderr.on('error', () => {});
}

const isCommand = /^\s*(?:[$#] |npx |leadsync |export )(?!.*[;,] )/;

/** Broken between words; what follows is indented further. Commands stay whole, to be copied, as do words that are longer. */
export function folded(text: string, width: number): string {
  return text
    .split('\n')
    .flatMap((line) => (line.length <= width || isCommand.test(line) ? [line] : foldedLine(line, width)))
    .join('\n');
}

function foldedLine(line: string, width: number): string[] {
  const [, indent = '', first = ''] = /^(\s*)(.*)$/.exec(line) ?? [];
  const after = `${indent}    `;
  const lines: string[] = [];
  let current = indent;
  let isStart = true;
  for (const word of first.split(/(?<=\S)(?= +\S)/)) {
    if (!isStart && current.length + word.length > width) {
      lines.push(current);
      current = after + word.trimStart();
    } else current += word;
    isStart = false;
  }
  return [...lines, current];
}

export type Companies = ReadonlyMap<string, string>;

const longestName = 60;

/** A company name for a line; null: unknown. */
export function shownCompany(company: string | null | undefined): string | null {
  return company === null || company === undefined ? null : visibleText(company, longestName) || null;
}

/** The parts of a line that identify a record, as people look for it: company first, id last. */
export function nameRecord(
  company: string | null | undefined,
  ...places: readonly (string | null)[]
): string {
  return [shownCompany(company), ...places].filter((part) => part !== null && part !== '').join(', ');
}

export function rowName(row: number | null | undefined): string | null {
  return row === null || row === undefined ? null : `row ${row}`;
}

/** The value that stands against the lead's, with whose it is; `shown`: the value as people see it. */
export function otherValue({ requestedBy }: Pick<Conflict, 'requestedBy'>, shown: string): string {
  return requestedBy === null ? `row ${shown}` : `requested ${shown} by ${requestedBy}`;
}

/** When something happened, to the second; `shownDates` brings it to people's clocks. */
export const toSecond = (iso: string): string => `${iso.slice(0, 19)}Z`;

/** Who changed the row's value, and when; empty: unknown. */
export function describeAuthor(author: Author | null): string {
  if (author === null) return '';
  return `row: ${authorWords(author)}${author.at === null ? '' : ` on ${toSecond(author.at)}`}`;
}

/** A user without a name, as in some containers, has a number. */
export function userName(): string {
  try {
    return userInfo().username;
  } catch {
    return `user ${process.getuid?.() ?? ''}`.trim();
  }
}

export function beforeWords(offsetText: string): string {
  return offsetText === '0m' ? 'when it is due' : `${offsetText} before`;
}

export function short(text: string, length = 60): string {
  return text.length <= length ? text : `${text.slice(0, length - 1).toWellFormed()}…`;
}
