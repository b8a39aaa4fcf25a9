import { defaultIdColumn, fieldMappings } from '../config/fields.ts';
import { didYouMean } from '../config/nearest-name.ts';
import { headingKey } from '../core/lead/heading-line.ts';
import { defaultFields } from '../core/lead/mapping.ts';
import { LeadsyncError } from '../errors.ts';
import type { MappedField } from '../setup/answers.ts';
import type { FoundTable } from '../setup/found-table.ts';
import { type Proposal, proposeMapping } from '../setup/propose-mapping.ts';
import { answersMissing, type Choice, type Dialogue } from './init-dialogue.ts';
import type { Given } from './init-given.ts';
import type { Place } from './init-place.ts';

/** Which column holds what. */
export interface Columns {
  readonly idColumn: string;
  readonly fields: readonly MappedField[];
  readonly hasRows: boolean;
}

const none = '\0none';
const again = '\0again';

/** Shown texts of cells, which may have line breaks or be long. */
const shown = (text: string): string => {
  const line = text.replaceAll(/\s+/g, ' ').trim();
  return line.length > 40 ? `${line.slice(0, 39)}…` : line;
};

/** A sheet may have hundreds of headings. */
const mostNamed = 15;

const someOf = (headings: readonly string[]): string =>
  [
    ...headings.slice(0, mostNamed).map(shown),
    ...(headings.length > mostNamed ? [`${headings.length - mostNamed} more`] : []),
  ].join(', ');

/** @param serviceFields names of the fields that the service's leads have */
export async function askColumns(
  ui: Dialogue,
  given: Given,
  place: Place,
  serviceFields: readonly string[],
): Promise<Columns> {
  const usual = fieldMappings({ target: { type: place.target.type } });
  const fields = [...new Set([...usual.map(({ field }) => field), ...serviceFields])];
  const strange = [...given.map.keys()].filter((field) => !fields.includes(field));
  if (strange.length > 0)
    throw new LeadsyncError(
      'usage.init-answer',
      `--map names ${strange.join(', ')}, which leads do not have${didYouMean(strange[0] ?? '', fields)}; nothing was written`,
      { help: `Leads have: ${fields.join(', ')}` },
    );
  let { table } = place;
  for (;;) {
    const headings = place.target.type === 'hubspot' ? null : table.headings;
    const columns =
      headings === null
        ? usualColumns(ui, given, place, table, usual)
        : await matchHeadings(ui, given, place, headings, fields);
    if (columns !== again) return { ...columns, hasRows: table.hasRows };
    table = await place.look();
  }
}

/** A table that leadsync makes, or adds its own columns to. */
function usualColumns(
  ui: Dialogue,
  given: Given,
  { target, name }: Place,
  { headings }: FoundTable,
  usual: readonly { readonly field: string; readonly column: string }[],
): Omit<Columns, 'hasRows'> {
  const own = usual.map(({ field, column }): MappedField => [field, given.map.get(field) ?? column]);
  const added = [...given.map].filter(([field]) => !usual.some((mapping) => mapping.field === field));
  const fields = [...own, ...added].filter(([, column]) => column !== '');
  const idColumn = given.idColumn ?? defaultIdColumn(target.type);
  const wanted = [idColumn, ...fields.map(([, column]) => column)];
  const missing = wanted.filter((column) => headings?.includes(column) !== true);
  ui.say(
    headings === null
      ? `There is no ${place(name)} yet: the first sync makes it, with the columns ${wanted.join(', ')}.`
      : `leadsync uses these properties: ${wanted.join(', ')}.${missing.length === 0 ? '' : ` HubSpot does not have ${missing.join(', ')} yet: the first sync makes them.`}`,
  );
  return { idColumn, fields };
}

const place = (name: string): string => name.replace(/^the /, '');

/** `again`: the person has changed the table. */
async function matchHeadings(
  ui: Dialogue,
  given: Given,
  place: Place,
  headings: readonly string[],
  fields: readonly string[],
): Promise<Omit<Columns, 'hasRows'> | typeof again> {
  const proposal = proposeMapping(headings, fields);
  const free = headings.filter(
    (heading) => heading.trim() !== '' && !proposal.doubled.map(headingKey).includes(headingKey(heading)),
  );
  if (proposal.doubled.length > 0)
    ui.say(
      `More than one column is headed ${proposal.doubled.map(shown).join(', ')}. Rename one, or leadsync leaves them alone.`,
    );
  const nothing = proposal.id === null && [...proposal.fields.values()].every((match) => match === null);
  if (nothing && given.map.size === 0 && (await isNoHeading(ui, place, free))) return again;

  const idColumn = await idColumnOf(ui, given, place, free, proposal);
  if (idColumn === again) return again;
  const chosen = new Map<string, string>();
  const left = (): readonly string[] => {
    const used = [idColumn, ...chosen.values()].map(headingKey);
    return free.filter((heading) => !used.includes(headingKey(heading)));
  };
  for (const [field, column] of given.map)
    if (column !== '') chosen.set(field, columnNamed(column, left(), place));
  const open = [...proposal.fields].flatMap(([field, match]) =>
    match === null || given.map.has(field) || !left().includes(match.heading) ? [] : [{ field, ...match }],
  );
  for (const { field, heading, isSure } of open) if (isSure) chosen.set(field, heading);
  const unsure = open.filter(({ isSure }) => !isSure);
  if (unsure.length > 0 && !ui.isTerminal) leaveOut(ui, unsure, given);
  else
    for (const { field, heading } of unsure) {
      const column = await chooseColumn(ui, field, left(), left().includes(heading) ? heading : none);
      if (column !== null) chosen.set(field, column);
    }
  await confirmMapping(ui, fields, chosen, left);
  if (chosen.size === 0)
    throw new LeadsyncError('usage.init-answer', 'no field has a column; nothing was written', {
      help: `Map at least one: --map FIELD=HEADING. The headings are ${someOf(free)}`,
    });
  return { idColumn, fields: inOrderOf(headings, chosen) };
}

function inOrderOf(headings: readonly string[], chosen: ReadonlyMap<string, string>): readonly MappedField[] {
  return [...chosen].toSorted(([, one], [, other]) => headings.indexOf(one) - headings.indexOf(other));
}

function columnNamed(column: string, free: readonly string[], { name }: Place): string {
  const found = free.find((heading) => headingKey(heading) === headingKey(column));
  if (found !== undefined) return found;
  throw new LeadsyncError(
    'usage.init-answer',
    `${name} has no single free column headed ${JSON.stringify(column)}${didYouMean(column, free)}; nothing was written`,
    { help: `Its headings: ${someOf(free)}` },
  );
}

/** Asks whether a first row without known words has the headings; true: read the table again. */
async function isNoHeading(ui: Dialogue, { name }: Place, free: readonly string[]): Promise<boolean> {
  const row = someOf(free);
  if (!ui.isTerminal)
    throw new LeadsyncError(
      'target.header-missing',
      `the first row of ${name} has no heading that leadsync knows: ${row}; nothing was written`,
      { help: 'If it is a lead, put a row of headings above it. Otherwise map them: --map FIELD=HEADING' },
    );
  const answer = await ui.choose(
    { message: `None of these is a heading that leadsync knows: ${row}`, flag: '--map' },
    [
      { value: again, label: 'I have put headings above it: look again' },
      { value: none, label: 'These are the headings: I choose what they mean' },
    ],
  );
  return answer === again;
}

/** The column of the ids. leadsync never adds one to a table that people have made: they say where it goes. */
async function idColumnOf(
  ui: Dialogue,
  given: Given,
  place: Place,
  free: readonly string[],
  { id }: Proposal,
): Promise<string> {
  if (given.idColumn !== undefined) return columnNamed(given.idColumn, free, place);
  if (id?.isSure === true) return id.heading;
  const usual = defaultIdColumn(place.target.type);
  const how =
    place.target.type === 'postgres-table'
      ? `alter table ${place.name.replace(/^the table /, '')} add column ${usual} text;`
      : `Put the heading "${usual}" above an empty column, anywhere, and save.`;
  if (!ui.isTerminal)
    throw new LeadsyncError(
      'target.id-column-missing',
      `${place.name} has no column ${JSON.stringify(usual)}, where leadsync keeps the id of each row's lead; nothing was written`,
      { help: `${how} Or name a column that has the ids of the Leads service already: --id-column HEADING` },
    );
  ui.say(`leadsync keeps the id of each row's lead in a column of ${place.name}. There is none yet.\n${how}`);
  const likely = id === null ? [] : [{ value: id.heading, label: `The ids are in "${shown(id.heading)}"` }];
  return ui.choose({ message: 'Is it there now?', flag: '--id-column' }, [
    { value: again, label: 'Yes: look again' },
    ...likely,
    ...free
      .filter((heading) => heading !== id?.heading)
      .map((value) => ({ value, label: `The ids of the Leads service are in "${shown(value)}"` })),
  ]);
}

/** Null: the field is left out. */
async function chooseColumn(
  ui: Dialogue,
  field: string,
  free: readonly string[],
  proposal: string,
): Promise<string | null> {
  const choices: Choice<string>[] = [
    ...free.map((value) => ({ value, label: shown(value) })),
    { value: none, label: 'none: leave it out' },
  ];
  const asked = {
    message: `Which column has the ${field} of a lead?`,
    flag: `--map ${field}=HEADING`,
    proposal,
    isGuess: true,
  };
  const column = await ui.choose(asked, choices);
  return column === none ? null : column;
}

type Unsure = readonly { readonly field: string; readonly heading: string }[];

/** Nobody can be asked: what is not sure is left out, or missing. */
function leaveOut(ui: Dialogue, unsure: Unsure, { isYes }: Given): void {
  const lines = unsure.map(
    ({ field, heading }) =>
      `--map ${JSON.stringify(`${field}=${heading}`)}, or --map ${field}= to leave it out`,
  );
  if (!isYes) throw answersMissing(lines);
  ui.say(`Not sure, so left out: ${unsure.map(({ field }) => field).join(', ')}.\n${lines.join('\n')}`);
}

/** Shows what is mapped and what is not; a person may change it until it is right. */
async function confirmMapping(
  ui: Dialogue,
  fields: readonly string[],
  chosen: Map<string, string>,
  left: () => readonly string[],
): Promise<void> {
  const wide = Math.max(...fields.map((field) => field.length));
  for (;;) {
    const mapped = fields.flatMap((field) => {
      const column = chosen.get(field);
      return column === undefined ? [] : [`${field.padEnd(wide)}  ${shown(column)}`];
    });
    const unmapped = fields.filter((field) => !chosen.has(field));
    const own = left();
    ui.say(
      [
        'Lead field and column:',
        ...mapped,
        ...(unmapped.length === 0 ? [] : [`Not in the table, so left out: ${unmapped.join(', ')}`]),
        ...(own.length === 0 ? [] : [`Left alone: ${someOf(own)}`]),
      ].join('\n'),
    );
    if (!ui.isTerminal) return;
    const wrong = await ui.choose({ message: 'Is this right?', flag: '--yes', proposal: none }, [
      { value: none, label: 'Yes' },
      ...fields.map((value) => ({ value, label: `Change ${value}` })),
    ]);
    if (wrong === none) return;
    const before = chosen.get(wrong);
    chosen.delete(wrong);
    const column = await chooseColumn(ui, wrong, left(), before ?? none);
    if (column !== null) chosen.set(wrong, column);
  }
}

/** For messages of other questions: whether reminders can be sent. */
export const followUp = defaultFields.find(({ type }) => type === 'instant')?.field ?? '';
