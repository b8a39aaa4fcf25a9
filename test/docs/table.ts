/** A line of a decision table: the situation, in each column one or several of its values, and what happens in it. */
export interface Line {
  readonly situation: readonly (readonly string[])[];
  readonly answers: readonly string[];
}

/**
 * Joins lines that differ in one value of the situation and have the same answers, until none do. Values that stand
 * together are in `order`: as they first appear, unless it is given.
 */
export function joined(lines: readonly Line[], order?: readonly string[]): readonly Line[] {
  const inOrder = order ?? lines.flatMap(({ situation }) => situation.flat());
  let all = lines;
  for (let column = (lines[0]?.situation.length ?? 0) - 1; column >= 0; column--) {
    const groups = new Map<string, Line>();
    for (const line of all) {
      const key = JSON.stringify([line.situation.with(column, []), line.answers]);
      const together = new Set([line, groups.get(key)].flatMap((one) => one?.situation[column] ?? []));
      const values = [...new Set(inOrder)].filter((value) => together.has(value));
      groups.set(key, { ...line, situation: line.situation.with(column, values) });
    }
    all = [...groups.values()];
  }
  return all;
}

/** Leaves empty what is as in the first column of answers. */
export function onlyOthers(lines: readonly Line[]): readonly Line[] {
  return lines.map(({ situation, answers: [first = '', ...others] }) => ({
    situation,
    answers: [first, ...others.map((answer) => (answer === first ? '' : answer))],
  }));
}

/** A Markdown table. `shorter` has another word for some values that stand together. */
export function markdown(
  headings: readonly string[],
  lines: readonly Line[],
  shorter: Readonly<Record<string, string>> = {},
): string {
  const cells = lines.map(({ situation, answers }) => [
    ...situation.map((values) => {
      const text = values.join(' or ');
      return shorter[text] ?? text;
    }),
    ...answers,
  ]);
  return compact([headings, headings.map(() => '---'), ...cells]);
}

/** Rows as lines of a Markdown table, without spaces beside the bars: nobody edits what is written here. */
export function compact(rows: readonly (readonly string[])[]): string {
  return `${rows.map((row) => `|${row.join('|')}|`).join('\n')}\n`;
}
