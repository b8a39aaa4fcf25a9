import { type Dialogue, GoBack, type Question } from '../../src/cli/init-answers.ts';
import type { LeadsyncError } from '../../src/lib/errors.ts';

/** The key Esc. */
export const esc = '\u001B';

type Answer = string | null | (() => string | null);

/** A person at a terminal: takes what is at hand (`null`), types a text, chooses by the label of a choice, or presses Esc. */
export class ScriptedDialogue implements Dialogue {
  readonly isTerminal = true;
  readonly questions: string[] = [];
  /** What was shown, and the codes of faults. */
  readonly shown: string[] = [];
  readonly #answers: Answer[];

  /** A function acts before it answers, as a person does in another program. */
  constructor(...answers: Answer[]) {
    this.#answers = answers;
  }

  get asked(): number {
    return this.questions.length;
  }

  /** Answers that were not needed. */
  get left(): number {
    return this.#answers.length;
  }

  async ask({ message, choices, proposal, former = proposal }: Question): Promise<string> {
    this.questions.push(message);
    const next = this.#answers.shift();
    if (next === undefined) throw new Error(`no answer to: ${message}`);
    const answer = typeof next === 'function' ? next() : next;
    if (answer === esc) throw new GoBack();
    if (choices === undefined) return answer ?? former ?? '';
    const found = choices.find(({ value, label }) =>
      answer === null ? value === (former ?? choices[0]?.value) : label.includes(answer),
    );
    if (found === undefined) throw new Error(`${message}: no ${answer} in ${JSON.stringify(choices)}`);
    return found.value;
  }

  say(text: string): void {
    this.shown.push(text);
  }

  retry(fault: LeadsyncError): void {
    this.shown.push(fault.code);
  }
}
