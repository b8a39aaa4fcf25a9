import { LeadsyncError } from '../lib/errors.ts';

export const never = new AbortController().signal;

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

export function describeLine({ name, ok, warning, message, code, help }: CheckLine): string {
  const more = help === undefined ? '' : `\n          ${help}`;
  return `${ok ? (warning ? 'warn' : 'ok  ') : 'FAIL'}  ${name}: ${message}${ok ? '' : ` [${code}]${more}`}`;
}
