import type { Direction } from '../../src/core/lead/mapping.ts';
import type { Policy } from '../../src/core/merge/policy.ts';

export const directions: readonly Direction[] = ['two-way', 'to-target', 'to-leads'];

/** The settings of a connection that decide, besides the direction, with all their values. */
export type Choices = Pick<Policy, 'onConflict' | 'onFirstSync' | 'onLeadDeleted' | 'onRowDeleted'>;
type Setting = keyof Choices;

/** The keys of a record that the compiler wants whole. */
const all = <Value extends string>(values: Readonly<Record<Value, true>>) =>
  Object.keys(values) as [Value, ...Value[]];

export const policyValues: { readonly [K in Setting]: readonly [Choices[K], ...Choices[K][]] } = {
  onConflict: all<Choices['onConflict']>({ hold: true, 'leads-win': true, 'target-wins': true }),
  onFirstSync: all<Choices['onFirstSync']>({ hold: true, 'leads-win': true, 'target-wins': true }),
  onLeadDeleted: all<Choices['onLeadDeleted']>({ mark: true, keep: true, remove: true, ask: true }),
  onRowDeleted: all<Choices['onRowDeleted']>({
    restore: true,
    ignore: true,
    'delete-lead': true,
    ask: true,
  }),
};
const settings = Object.keys(policyValues) as readonly Setting[];

const everyChoice: readonly Choices[] = policyValues.onConflict.flatMap((onConflict) =>
  policyValues.onFirstSync.flatMap((onFirstSync) =>
    policyValues.onLeadDeleted.flatMap((onLeadDeleted) =>
      policyValues.onRowDeleted.map((onRowDeleted) => ({
        onConflict,
        onFirstSync,
        onLeadDeleted,
        onRowDeleted,
      })),
    ),
  ),
);

/**
 * Asks what happens under every direction and every choice. One text for each direction: the answer, or one answer for
 * each value of the setting that makes a difference. Throws when two settings do: no cell of a table can show that.
 */
export function underEveryPolicy(ask: (direction: Direction, choices: Choices) => string): readonly string[] {
  return directions.map((direction) => {
    const answers = everyChoice.map((choices) => ({ choices, answer: ask(direction, choices) }));
    const deciding = settings.filter((setting) =>
      answers.some((one) =>
        answers.some(
          (other) =>
            one.answer !== other.answer &&
            settings.every((same) => same === setting || one.choices[same] === other.choices[same]),
        ),
      ),
    );
    const [setting, ...others] = deciding;
    if (setting === undefined) return answers[0]?.answer ?? '';
    if (others.length > 0) throw new Error(`${deciding.join(' and ')} decide together`);
    const answerTo = new Map(answers.map(({ choices, answer }) => [choices[setting], answer]));
    const told = [...new Set(answerTo.values())].map((answer) => {
      const chosen = policyValues[setting].filter((value) => answerTo.get(value) === answer);
      return `${chosen.map((value) => `\`${value}\``).join(', ')}: ${answer}`;
    });
    return [`by \`${setting}\``, ...told].join('<br>');
  });
}
