import type { Environment } from './environment.ts';
import { fileSettings, type Path, type Setting, settingAround, settingOf } from './settings.ts';
import type { Source } from './source.ts';

type Raw = Readonly<Record<string, unknown>>;

/**
 * The settings right below `place` that are set in the environment, by their last key.
 * @param place with dots; '' for those that stand below nothing
 */
export function readVariables(environment: Environment, from: readonly Setting[], place: string): Raw {
  const start = place === '' ? '' : `${place}.`;
  return Object.fromEntries(
    from.flatMap(({ variable, place: at, list }) => {
      const key = at.startsWith(start) ? at.slice(start.length) : '.';
      const value = variable === undefined || key.includes('.') ? undefined : environment.get(variable);
      return value === undefined ? [] : [[key, list === true ? splitList(value) : value]];
    }),
  );
}

/** The environment's one connection, `default`, in the form of leadsync.yaml. Its target is relative to `cwd`. */
export function environmentSource(environment: Environment, cwd: string): Source {
  const read = (place: string) => readVariables(environment, fileSettings, place);
  const reminders = read('connections.NAME.reminders');
  const hasReminders = 'to' in reminders;
  const alerts = read('alerts');
  // Reminders, when there are any, bring their sender along.
  const sender = hasReminders || !('from' in reminders) ? {} : { from: reminders['from'] };
  const raw = {
    connections: {
      default: {
        leads: read('connections.NAME.leads'),
        target: targetOf(read('connections.NAME.target')),
        sync: read('connections.NAME.sync'),
        ...(hasReminders && { reminders }),
      },
    },
    ...(Object.keys(alerts).length > 0 && { alerts: { ...alerts, ...sender } }),
  };
  const variableAt = (path: Path) =>
    settingAround(path)?.variable ??
    (path[0] === 'alerts' ? 'REMINDER_FROM' : path[2] === 'target' ? 'TARGET' : 'environment');
  return {
    raw,
    folder: cwd,
    locate: (path) => ({ where: variableAt(path), path: '' }),
    hint: (path) => {
      const similar = environment.similar(variableAt(path));
      return similar === undefined ? '' : ` (${similar} is set: was it meant?)`;
    },
    isSecret: (path) => settingOf(variableAt(path))?.secret === true,
    isKnownBad: (path) => environment.isKnownBad(variableAt(path)),
  };
}

/**
 * TARGET as settings of leadsync.yaml: `google-sheets:SPREADSHEET_ID/TAB`, `hubspot` (or `hubspot:companies`),
 * `postgres-table:TABLE`, else a path. What is secret stands in variables of its own.
 */
function targetOf({ path, token, url, ...common }: Raw): Raw {
  if (typeof path !== 'string') return { type: 'workbook' };
  const [, kind = '', colon, rest = ''] =
    /^(google-sheets|hubspot|postgres-table)(?:(:)(.*))?$/is.exec(path) ?? [];
  const type = kind.toLowerCase();
  if (type === 'google-sheets' && colon !== undefined) {
    const [, spreadsheet = '', tab = ''] = /^([^/]*)(?:\/(.*))?$/s.exec(rest) ?? [];
    return { type, spreadsheet, ...(tab !== '' && { tab }), ...common };
  }
  if (type === 'hubspot' && /^(companies)?$/i.test(rest))
    return { type, ...(token !== undefined && { token }), ...common };
  if (type === 'postgres-table' && colon !== undefined)
    return { type, table: rest, ...(url !== undefined && { url }), ...common };
  return { type: 'workbook', path, ...common };
}

function splitList(text: string): readonly string[] {
  return text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');
}
