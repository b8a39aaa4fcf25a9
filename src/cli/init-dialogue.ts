import { Secret } from '../config/secret.ts';
import { explain, LeadsyncError } from '../errors.ts';
import { stoppedWith } from './stop.ts';

interface Question {
  readonly message: string;
  /** The option that answers it, for those who have no terminal. */
  readonly flag: string;
  /** Accepted by `--yes`; prefilled on a terminal. */
  readonly proposal?: string;
  /** Greyed out in an empty field. */
  readonly example?: string;
  /** What is wrong with an answer; null: nothing. */
  readonly check?: (answer: string) => string | null;
}

export interface Choice<T extends string> {
  readonly value: T;
  readonly label: string;
  readonly hint?: string;
}

/** Asks a person on a terminal; without one, every question that `--yes` does not answer throws `usage.init-missing`. */
export interface Dialogue {
  readonly isTerminal: boolean;
  /** Without blanks around it. */
  text(question: Question): Promise<string>;
  /** Shows a dot for each character. */
  secret(question: Question): Promise<Secret>;
  choose<T extends string>(
    question: Pick<Question, 'message' | 'flag'> & {
      readonly proposal?: T;
      /** The proposal is a guess: `--yes` does not take it. */
      readonly isGuess?: boolean;
    },
    choices: readonly Choice<T>[],
  ): Promise<T>;
  say(text: string): void;
  /** Shows a fault after which the question comes again; throws it without a terminal. */
  retry(fault: LeadsyncError): void;
}

/** `missing`: a line for each answer, with its option. */
export function answersMissing(missing: readonly string[]): LeadsyncError {
  const what = missing.length === 1 ? 'an answer is missing' : `${missing.length} answers are missing`;
  return new LeadsyncError(
    'usage.init-missing',
    `${what}, and there is no terminal to ask on; nothing was written`,
    { help: [...missing, '--yes takes what is proposed.'].join('\n  ') },
  );
}

/** `isYes`: proposals are accepted without a question. `isSilent`: only the result is printed. */
export async function openDialogue(isYes: boolean, isSilent: boolean): Promise<Dialogue> {
  const isTerminal = process.stdin.isTTY && process.stdout.isTTY && !isSilent;
  return isTerminal ? terminalDialogue(isYes) : scriptedDialogue(isYes, isSilent);
}

function scriptedDialogue(isYes: boolean, isSilent: boolean): Dialogue {
  const take = async <T extends string>({
    message,
    flag,
    proposal,
  }: {
    message: string;
    flag: string;
    proposal?: T;
  }) => {
    if (isYes && proposal !== undefined) return proposal;
    throw answersMissing([`${flag}: ${message}`]);
  };
  return {
    isTerminal: false,
    text: take,
    secret: async (question) => new Secret(await take(question)),
    choose: take,
    say: (text) => void (isSilent || process.stdout.write(`${text}\n`)),
    retry: (fault) => {
      throw fault;
    },
  };
}

/** More choices than this are searched by typing. */
const mostShown = 10;

async function terminalDialogue(isYes: boolean): Promise<Dialogue> {
  const clack = await import('@clack/prompts');
  const answered = <T>(answer: T): Exclude<T, symbol> => {
    if (!clack.isCancel(answer)) return answer as Exclude<T, symbol>;
    throw stoppedWith('nothing was written');
  };
  const validate =
    ({ check }: Question) =>
    (answer: string | undefined) =>
      check?.((answer ?? '').trim()) ?? undefined;
  const isTaken = (proposal: string | undefined): proposal is string => isYes && proposal !== undefined;
  return {
    isTerminal: true,
    async text(question) {
      const { message, proposal, example } = question;
      if (isTaken(proposal)) return proposal;
      const answer = await clack.text({
        message,
        ...(proposal !== undefined && { initialValue: proposal }),
        ...(example !== undefined && { placeholder: example }),
        validate: validate(question),
      });
      return answered(answer).trim();
    },
    async secret(question) {
      const answer = await clack.password({ message: question.message, validate: validate(question) });
      return new Secret(answered(answer).trim());
    },
    async choose<T extends string>(
      {
        message,
        proposal,
        isGuess = false,
      }: Pick<Question, 'message'> & { readonly proposal?: T; readonly isGuess?: boolean },
      choices: readonly Choice<T>[],
    ) {
      if (!isGuess && isTaken(proposal)) return proposal;
      const shown = {
        message,
        // Its type differs for texts and others, which a type parameter does not tell.
        options: [...choices] as { value: string; label: string; hint?: string }[],
        ...(proposal !== undefined && { initialValue: proposal as string }),
        maxItems: mostShown,
      };
      const answer = choices.length > mostShown ? await clack.autocomplete(shown) : await clack.select(shown);
      return answered(answer) as T;
    },
    say: (text) => clack.log.message(wrapped(text)),
    retry: (fault) => {
      clack.log.error(wrapped(`${explain(fault)} [${fault.code}]`));
    },
  };
}

/** Columns taken by the line at the left. */
const guideWidth = 4;

/** With lines that end between words; the terminal would end them anywhere. */
function wrapped(text: string): string {
  const width = Math.max(20, (process.stdout.columns || 80) - guideWidth);
  return text.replaceAll(new RegExp(`(?![^\\n]{1,${width}}$)([^\\n]{1,${width}}) `, 'gm'), '$1\n');
}
