import type { Environment } from './environment.ts';
import { settingAround, settingOf } from './settings-lookup.ts';
import type { Source } from './source.ts';
import { fromTargetVariable } from './target-variable.ts';

/** The environment's one connection, `default`, in the form of leadsync.yaml. Its target is relative to `cwd`. */
export function environmentSource(environment: Environment, cwd: string): Source {
  const to = environment.get('REMINDER_TO');
  const alertEmail = environment.get('ALERT_EMAIL');
  const alerts = present({
    email: alertEmail === undefined ? undefined : splitList(alertEmail),
    webhook: environment.get('ALERT_WEBHOOK'),
    heartbeat: environment.get('ALERT_HEARTBEAT'),
  });
  const raw = {
    connections: {
      default: present({
        leads: present({
          baseUrl: environment.get('LEADS_BASE_URL'),
          apiKey: environment.get('LEADS_API_KEY'),
        }),
        target: targetOf(environment),
        sync: present({
          schedule: environment.get('SCHEDULE'),
          timeZone: environment.get('TZ_NAME'),
          direction: environment.get('DIRECTION'),
          retention: environment.get('RETENTION'),
        }),
        reminders:
          to === undefined
            ? undefined
            : present({ from: environment.get('REMINDER_FROM'), to: splitList(to) }),
      }),
    },
    ...(Object.keys(alerts).length > 0 && { alerts: { ...alerts, ...alertSender(environment, to) } }),
  };
  const variableAt: (path: Parameters<Source['locate']>[0]) => string = (path) =>
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
    isKnownBad: (path) =>
      environment.mistakes.some(({ where }) => where.replace(/_FILE$/, '') === variableAt(path)),
  };
}

/** Reminders, when there are any, bring their sender along. */
function alertSender(environment: Environment, reminderTo: string | undefined): { readonly from?: string } {
  const from = environment.get('REMINDER_FROM');
  return from === undefined || reminderTo !== undefined ? {} : { from };
}

function targetOf(environment: Environment): Readonly<Record<string, unknown>> {
  const secrets = { token: environment.get('HUBSPOT_TOKEN'), url: environment.get('POSTGRES_TABLE_URL') };
  const variable = environment.get('TARGET');
  if (variable === undefined) return { type: 'workbook' };
  return present({ ...fromTargetVariable(variable, secrets), timeZone: environment.get('TARGET_TZ_NAME') });
}

function present(object: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined));
}

function splitList(text: string): readonly string[] {
  return text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');
}
