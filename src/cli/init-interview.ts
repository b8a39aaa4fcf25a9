import { LeadsyncError } from '../errors.ts';
import type { SecretAnswer } from '../setup/answers.ts';
import type { Dialogue } from './init-dialogue.ts';
import {
  accepted,
  flagOf,
  hasVariable,
  mistakeIn,
  type QuestionName,
  questions,
  secretInFile,
  wrongAnswer,
} from './init-questions.ts';

/** A secret, or what may be shown. */
export type Answer = SecretAnswer | string;

/** After these the key is asked for again, after any other fault the place. */
const faultsOfKey: ReadonlySet<string> = new Set([
  'leads.unauthenticated',
  'leads.forbidden',
  'leads.bad-key',
  'target.unauthenticated',
  'target.credentials-missing',
  'target.credentials-invalid',
]);

const another = '\0another';

/** Asks each question once: what is answered stays so, until it proves wrong. */
export class Interview {
  readonly ui: Dialogue;
  readonly #answers: Map<QuestionName, Answer>;
  /** Answers that proved wrong, proposed again: often only a part of them is. */
  readonly #former = new Map<QuestionName, string>();

  constructor(ui: Dialogue, answers: ReadonlyMap<QuestionName, Answer>) {
    this.ui = ui;
    this.#answers = new Map(answers);
  }

  has(name: QuestionName): boolean {
    return this.#answers.has(name);
  }

  /** Undefined: not answered, or with nothing. */
  known(name: QuestionName): string | undefined {
    const answer = this.#answers.get(name);
    return typeof answer === 'string' && answer !== '' ? answer : undefined;
  }

  knownSecret(name: QuestionName): SecretAnswer | undefined {
    const answer = this.#answers.get(name);
    return typeof answer === 'object' && answer.value.reveal() !== '' ? answer : undefined;
  }

  set(name: QuestionName, answer: Answer): void {
    this.#answers.set(name, answer);
  }

  async text(name: QuestionName): Promise<string> {
    const known = this.#answers.get(name);
    if (typeof known === 'string') return known;
    const { message, rule, example, proposal } = questions[name];
    const proposed = this.#former.get(name) ?? proposal;
    const written = await this.ui.text({
      message,
      flag: flagOf(questions[name]),
      ...(example !== undefined && { example }),
      ...(proposed !== undefined && { proposal: proposed }),
      check: (answer) => rule && mistakeIn(rule, answer),
    });
    const answer = accepted(name, written);
    this.set(name, answer);
    return answer;
  }

  async secret(name: QuestionName): Promise<SecretAnswer> {
    const known = this.#answers.get(name);
    if (typeof known === 'object') return known;
    const { message, rule, type } = questions[name];
    const asked = { message, flag: flagOf(questions[name]) };
    const answer =
      type === 'key-file'
        ? await this.#askKeyFile(name, asked)
        : {
            value: await this.ui.secret({ ...asked, check: (typed) => rule && mistakeIn(rule, typed) }),
          };
    this.set(name, answer);
    return answer;
  }

  /** One of the existing ones, or a typed new one. */
  async pick(
    name: QuestionName,
    message: string,
    found: readonly string[],
    other: string | null,
  ): Promise<string> {
    const known = this.known(name);
    if (known !== undefined) return known;
    if (found.length === 0 && other !== null) return this.text(name);
    const chosen = await this.ui.choose({ message, flag: flagOf(questions[name]) }, [
      ...found.map((value) => ({ value, label: value })),
      ...(other === null ? [] : [{ value: another, label: other }]),
    ]);
    if (chosen === another) return this.text(name);
    this.set(name, chosen);
    return chosen;
  }

  /**
   * Tries it until it works; after a fault `key` or `place` is asked again, whichever the fault is about. Throws the fault
   * where nobody can be asked.
   */
  async untilItWorks<T>(
    { key, place }: { readonly key: readonly QuestionName[]; readonly place: readonly QuestionName[] },
    attempt: () => Promise<T>,
  ): Promise<T> {
    for (;;)
      try {
        return await attempt();
      } catch (error) {
        if (!(error instanceof LeadsyncError) || error.code === 'init.stopped') throw error;
        this.ui.retry(error);
        const isOfKey = faultsOfKey.has(error.code);
        const wrong = isOfKey ? key : place;
        for (const name of wrong.length > 0 ? wrong : [...key, ...place]) this.#forget(name);
      }
  }

  /** The answers that are kept in leadsync.env, by variable; without empty ones. */
  kept(names: readonly QuestionName[]): ReadonlyMap<string, Answer> {
    return new Map(
      names.flatMap((name) => {
        const answer = this.known(name) ?? this.knownSecret(name);
        return answer === undefined || !hasVariable(name) ? [] : [[name, answer]];
      }),
    );
  }

  async #askKeyFile(
    name: QuestionName,
    asked: { readonly message: string; readonly flag: string },
  ): Promise<SecretAnswer> {
    const mistake = (path: string): string | null => {
      const read = secretInFile(name, path);
      return typeof read === 'string' ? read : null;
    };
    const path = await this.ui.text({ ...asked, check: mistake });
    const read = secretInFile(name, path);
    if (typeof read === 'string') throw wrongAnswer(asked.flag, read);
    return read;
  }

  #forget(name: QuestionName): void {
    const former = this.#answers.get(name);
    if (typeof former === 'string') this.#former.set(name, former);
    this.#answers.delete(name);
  }
}
