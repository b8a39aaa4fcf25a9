import { explain, LeadsyncError } from '../lib/errors.ts';
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
  /** How many questions a person was asked. */
  readonly asked: number;
  /** Throws GoBack; without a terminal and a proposal `usage.init-missing`. */
  ask(question: Question): Promise<string>;
  say(text: string): void;
  /** Shows a fault after which the question comes again; throws it without a terminal. */
  retry(fault: LeadsyncError): void;
}

/** The person wants the question before; or a step (`cause`) was wrong, and comes again. */
export class GoBack extends Error {}

export function answersMissing(missing: readonly Question[]): LeadsyncError {
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
    retry: (fault) => {
      throw fault;
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
