import type { Direction } from '../../src/core/lead/mapping.ts';
import type { Policy } from '../../src/core/merge/policy.ts';

export const directions: readonly Direction[] = ['two-way', 'to-target', 'to-leads'];

/** The settings of a connection that decide, besides the direction, with all their values. */
export type Choices = Pick<Policy, 'onConflict' | 'onFirstSync' | 'onLeadDeleted' | 'onRowDeleted'>;
type Setting = keyof Choices;

const values: { readonly [K in Setting]: readonly Choices[K][] } = {
  onConflict: ['hold', 'leads-win', 'target-wins'],
  onFirstSync: ['hold', 'leads-win', 'target-wins'],
  onLeadDeleted: ['mark', 'keep', 'remove', 'ask'],
  onRowDeleted: ['restore', 'ignore', 'delete-lead', 'ask'],
};
const settings = Object.keys(values) as readonly Setting[];

const everyChoice: readonly Choices[] = values.onConflict.flatMap((onConflict) =>
  values.onFirstSync.flatMap((onFirstSync) =>
    values.onLeadDeleted.flatMap((onLeadDeleted) =>
      values.onRowDeleted.map((onRowDeleted) => ({ onConflict, onFirstSync, onLeadDeleted, onRowDeleted })),
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
      const chosen = values[setting].filter((value) => answerTo.get(value) === answer);
      return `${chosen.map((value) => `\`${value}\``).join(', ')}: ${answer}`;
    });
    return [`by \`${setting}\``, ...told].join('<br>');
  });
}
