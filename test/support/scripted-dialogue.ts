import type { Dialogue } from '../../src/cli/init-dialogue.ts';
import { Secret } from '../../src/config/secret.ts';
import type { LeadsyncError } from '../../src/errors.ts';

/** A person at a terminal: takes what is proposed (`null`), types a text, or chooses by the label of a choice. */
export class ScriptedDialogue implements Dialogue {
  readonly isTerminal = true;
  readonly asked: string[] = [];
  /** What was shown, and the codes of faults. */
  readonly shown: string[] = [];
  readonly #answers: (string | null | (() => string | null))[];

  /** A function acts before it answers, as a person does in another program. */
  constructor(...answers: (string | null | (() => string | null))[]) {
    this.#answers = answers;
  }

  /** Answers that were not needed. */
  get left(): number {
    return this.#answers.length;
  }

  async text({ message, proposal, check }: Parameters<Dialogue['text']>[0]): Promise<string> {
    for (;;) {
      const answer = this.#next(message) ?? proposal ?? '';
      const mistake = check?.(answer) ?? null;
      if (mistake === null) return answer;
      this.shown.push(mistake);
    }
  }

  async secret(question: Parameters<Dialogue['secret']>[0]): Promise<Secret> {
    return new Secret(await this.text(question));
  }

  async choose<T extends string>(
    { message, proposal }: { readonly message: string; readonly proposal?: T },
    choices: readonly { readonly value: T; readonly label: string }[],
  ): Promise<T> {
    const answer = this.#next(message);
    const found = choices.find(({ value, label }) =>
      answer === null ? value === (proposal ?? choices[0]?.value) : label.includes(answer),
    );
    if (found === undefined)
      throw new Error(`${message}: no ${answer} among ${choices.map(({ label }) => label).join(', ')}`);
    return found.value;
  }

  say(text: string): void {
    this.shown.push(text);
  }

  retry(fault: LeadsyncError): void {
    this.shown.push(fault.code);
  }

  #next(message: string): string | null {
    this.asked.push(message);
    const next = this.#answers.shift();
    if (next === undefined) throw new Error(`no answer to: ${message}`);
    return typeof next === 'function' ? next() : next;
  }
}
