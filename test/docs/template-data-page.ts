import { defaultFields } from '../../src/core/lead/mapping.ts';
import { sampleViews } from '../../src/reminders/compose/template-mistakes.ts';
import { openTemplates } from '../../src/reminders/compose/templates.ts';
import { compact } from './table.ts';

/** The content of docs/template-data.md: what the sample mails of `leadsync check` give to templates. */
export async function templateDataPage(): Promise<string> {
  const templates = await openTemplates(null, (message) => {
    throw new Error(message);
  });
  const views = sampleViews(defaultFields, templates.in('en'));
  return `# What templates get

Every name, with an example (\`words\` are sentences); written by \`npm run docs\`. What they mean: [reminders.md](reminders.md#templates). A time has
\`date\` (2026-11-21), \`day\` (Sat 21 Nov 2026), \`longDay\`, \`time\` (14:30) and \`zone\` (CET), those of a
follow-up and of notes \`isDay\` and \`timeZone\`, too.

## About one lead

${list([...views.reminder, ...views.moved, ...views.cancelled])}
## Digest

Each \`lead\` and \`row\` of \`groups[].items[]\` has what it has above.

${list(views.digest)}`;
}

/** The first example of each name that is not empty. */
function list(views: readonly object[]): string {
  const examples = new Map<string, string>();
  for (const view of views) {
    for (const [name, example] of named('', view)) if (!examples.get(name)) examples.set(name, example);
  }
  const told = [...examples].filter(([name]) => !/^groups.*\.(?:lead|row)\.|^notes\..*\./.test(name));
  return compact([
    ['name', 'example'],
    ['---', '---'],
    ...told.map(([name, example]) => [`\`${name}\``, /^(?:.*\.)?words\./.test(name) ? '' : example]),
  ]);
}

type Names = readonly (readonly [name: string, example: string])[];

/** Parts of a time, which every time has. */
const ofTime = ['date', 'day', 'longDay', 'time', 'zone'];

function named(name: string, value: unknown): Names {
  if (value === null) return [];
  if (Array.isArray(value)) return value.flatMap((item: unknown) => named(`${name}[]`, item));
  if (typeof value !== 'object')
    return [[name, `${value as string | number | boolean | undefined}`.slice(0, 24).trimEnd()]];
  const time = timeOf(value);
  const others = Object.entries(value).filter(([key]) => time === null || !ofTime.includes(key));
  return [
    ...(time === null ? [] : [[name, time] as const]),
    ...others.flatMap(([key, inner]) => named(name === '' ? key : `${name}.${key}`, inner)),
  ];
}

function timeOf(value: object): string | null {
  if (!('longDay' in value && 'day' in value && 'time' in value)) return null;
  return typeof value.day === 'string' && typeof value.time === 'string'
    ? `a time: ${value.day}, ${value.time}`
    : null;
}
