import { isAbsolute, relative, sep } from 'node:path';
import { Document, Pair, Scalar, YAMLMap, YAMLSeq } from 'yaml';
import { envFileName, isPath } from '../config/env-file.ts';
import { usualMatchBy } from '../config/fields.ts';
import { docsPath } from '../version.ts';
import type { Answers, SettingAnswer, TargetAnswer } from './answers.ts';

/** The folder of the secrets, beside leadsync.yaml. */
export const secretsFolder = 'secrets';

/** What is to be written, by its path from the folder of leadsync.yaml. */
export interface SetupFiles {
  readonly yaml: string;
  readonly env: string;
  /** One line each. */
  readonly secrets: ReadonlyMap<string, string>;
}

/**
 * The configuration that these answers make. No secret is in `yaml` and `env`.
 * @param folder of leadsync.yaml, absolute: what is inside it is named by relative paths
 */
export function setupFiles(answers: Answers, folder: string): SetupFiles {
  const secrets = new Map<string, string>();
  const variables: [name: string, value: string][] = [];
  for (const [name, answer] of variablesOf(answers)) {
    const own = `${secretsFolder}/${name.toLowerCase().replaceAll('_', '-')}`;
    if (typeof answer === 'string') variables.push([name, isPath(name) ? within(folder, answer) : answer]);
    else if (answer.file !== undefined) variables.push([`${name}_FILE`, within(folder, answer.file)]);
    else {
      secrets.set(own, `${answer.value.reveal()}\n`);
      variables.push([`${name}_FILE`, own]);
    }
  }
  // The state stays with its configuration, whatever folder a command is called in.
  variables.push(['DATA_DIR', 'data']);
  return { yaml: yamlOf(answers, folder), env: envText(variables), secrets };
}

/** Everything that leadsync.yaml does not hold, by its variable. */
export function variablesOf({ leadsKey, target, smtpUrl }: Answers): TargetAnswer['variables'] {
  return new Map([
    ['LEADS_API_KEY', leadsKey],
    ...target.variables,
    ...(smtpUrl === null ? [] : [['SMTP_URL', smtpUrl] as const]),
  ]);
}

function within(folder: string, path: string): string {
  const inside = relative(folder, path);
  return inside === '..' || inside.startsWith(`..${sep}`) || isAbsolute(inside) ? path : inside;
}

function envText(variables: readonly (readonly [string, string])[]): string {
  const lines = variables.map(([name, value]) => {
    const quote = /^[\w./:@+-]*$/.test(value)
      ? ''
      : (["'", '"', '`'].find((one) => !value.includes(one)) ?? '');
    return `${name}=${quote}${value}${quote}`;
  });
  const head = [
    '# leadsync reads this file beside leadsync.yaml; a variable of the environment goes before it.',
    '# Relative paths start at its folder. Other variables may stand here too: DATABASE_URL, DATA_DIR, PORT …',
  ];
  return `${[...head, ...lines].join('\n')}\n`;
}

type Entry = readonly [key: string, value: unknown, comment?: string];

/** A mapping without undefined values; comments are above their keys. */
function mapping(...entries: readonly Entry[]): YAMLMap {
  const map = new YAMLMap();
  for (const [key, value, comment] of entries) {
    if (value === undefined) continue;
    const name = new Scalar(key);
    if (comment !== undefined) name.commentBefore = ` ${comment}`;
    map.add(new Pair(name, value));
  }
  return map;
}

/** A literal text: `${` would name a variable. */
function literal(text: string): Scalar {
  const scalar = new Scalar(text.replaceAll('${', () => '$${'));
  // A heading may have line breaks.
  if (/[\n$]/.test(text)) scalar.type = 'QUOTE_DOUBLE';
  return scalar;
}

function variable(name: string): Scalar {
  const scalar = new Scalar(`\${${name}}`);
  scalar.type = 'QUOTE_DOUBLE';
  return scalar;
}

function yamlOf(answers: Answers, folder: string): string {
  const { leadsUrl, idColumn, fields, hasRows, schedule, timeZone, recipients, sender } = answers;
  const names = fields.map(([field]) => field);
  const [first = ''] = names;
  const { type, settings } = answers.target;
  const place = Object.entries(settings).map(([key, setting]): Entry => [key, written(setting, folder)]);
  const isNamed = usualMatchBy.some((field) => names.includes(field));
  const connection = mapping(
    ['leads', mapping(['baseUrl', literal(leadsUrl)], ['apiKey', variable('LEADS_API_KEY')])],
    ['target', mapping(['type', type], ...place, ['idColumn', literal(idColumn)])],
    [
      'fields',
      mapping(...fields.map(([field, column]): Entry => [field, literal(column)])),
      'Lead field: heading of its column. What is not here is left alone on both sides.',
    ],
    [
      'sync',
      mapping(
        ['schedule', literal(schedule), 'minute hour day-of-month month day-of-week'],
        ['timeZone', literal(timeZone)],
        [
          'match',
          hasRows ? 'propose' : undefined,
          'Rows without an id that may be leads: `leadsync conflicts` lists them, and you decide.',
        ],
        ['matchBy', hasRows && !isNamed ? flow([first]) : undefined],
      ),
    ],
    [
      'reminders',
      recipients.length === 0
        ? undefined
        : mapping(['from', sender === null ? undefined : literal(sender)], ['to', flow(recipients)]),
      `Mails about follow-ups that are due; quiet hours, digests, chats: ${docsPath('reminders.md')}`,
    ],
  );
  const document = new Document(mapping(['connections', mapping([answers.connection, connection])]));
  document.commentBefore = ` Every setting: ${docsPath('settings.md')}. What \${…} names is in ${envFileName}.`;
  return document.toString({ lineWidth: 0 });
}

function flow(texts: readonly string[]): YAMLSeq {
  const list = new YAMLSeq();
  list.flow = true;
  list.items = texts.map(literal);
  return list;
}

function written(setting: SettingAnswer, folder: string): Scalar {
  if (typeof setting === 'string') return literal(setting);
  if ('variable' in setting) return variable(setting.variable);
  const path = within(folder, setting.file);
  return literal(isAbsolute(path) ? path : `./${path}`);
}
