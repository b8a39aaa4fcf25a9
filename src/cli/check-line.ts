import { LeadsyncError } from '../errors.ts';

/** A check is never aborted. */
export const never = new AbortController().signal;

/** The result of one check. */
export interface CheckLine {
  readonly name: string;
  readonly ok: boolean;
  /** Does not fail the check, but should be fixed. */
  readonly warning?: true;
  readonly message: string;
  readonly code?: string;
  readonly help?: string;
}

/** The line for the success message of `test`, or for the LeadsyncError it throws. */
export async function runCheck(name: string, test: () => Promise<string>): Promise<CheckLine> {
  try {
    return passed(name, await test());
  } catch (error) {
    if (error instanceof LeadsyncError) return failed(name, error);
    throw error;
  }
}

export function passed(name: string, message: string): CheckLine {
  return { name, ok: true, message };
}

export function failed(name: string, error: LeadsyncError): CheckLine {
  return {
    name,
    ok: false,
    message: error.message,
    code: error.code,
    ...(error.help !== undefined && { help: error.help }),
  };
}

/** On a terminal a clause begins a new line where the line would be longer; for programs each check is one line. */
const widest = (): number => (process.stdout.isTTY ? 110 : Number.POSITIVE_INFINITY);

export function describeLine(line: CheckLine, most = widest()): string {
  const help = line.help === undefined ? '' : `\n          ${inLines(line.help, most)}`;
  const said = inLines(`${line.name}: ${line.message}`, most);
  return `${line.ok ? (line.warning ? 'warn' : 'ok  ') : 'FAIL'}  ${said}${line.ok ? '' : ` [${line.code}]${help}`}`;
}

function inLines(text: string, most: number): string {
  let width = 0;
  const clauses = text.split(/(?<=[;.]) /).map((clause, nth) => {
    const isNew = nth > 0 && width + clause.length > most;
    width = isNew ? clause.length : width + clause.length + 1;
    return `${nth === 0 ? '' : isNew ? '\n          ' : ' '}${clause}`;
  });
  return clauses.join('');
}
