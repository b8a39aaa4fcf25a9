import { resolve } from 'node:path';
import type { FieldMapping } from '../core/lead/mapping.ts';
import type { AlertSettings, ConnectionConfig, ReminderSettings, TargetConfig } from './config.ts';
import { defaultIdColumn, fieldMappings, usualMatchBy } from './fields.ts';
import type { ConnectionSettings, FileSettings } from './schema.ts';
import { headingKey } from './values.ts';

/** Sender of mails that are only written to the outbox. */
const localSender = 'leadsync@localhost';

/** A connection from settings that are right, with all defaults filled in; `folder` is what paths are relative to. */
export function buildConnection(
  name: string,
  settings: ConnectionSettings,
  folder: string,
): ConnectionConfig {
  const { leads, target, reminders } = settings;
  const { retention, matchBy = usualMatchBy, ...sync } = settings.sync;
  const fields = fieldMappings(settings);
  return {
    name,
    leads,
    target: buildTarget(target, folder, sync.timeZone),
    fields,
    sync: { ...sync, matchBy: matchBy.filter((one) => fields.some(({ field }) => field === one)) },
    retentionDays: retention,
    ...(reminders && { reminders: buildReminders(reminders, fields, sync.timeZone, folder) }),
  };
}

function buildTarget(
  { marker, ...target }: ConnectionSettings['target'],
  folder: string,
  timeZone: string,
): TargetConfig {
  const common = {
    idColumn: target.idColumn ?? defaultIdColumn(target.type),
    ...(!marker && { marker: false as const }),
  };
  if (target.type === 'google-sheets') {
    const { spreadsheet, ...others } = target;
    return { ...others, ...common, spreadsheetId: spreadsheet };
  }
  const inZone = { ...common, timeZone: target.timeZone ?? timeZone };
  switch (target.type) {
    case 'workbook':
      return { ...target, ...inZone, path: resolve(folder, target.path) };
    case 'hubspot':
      return { ...target, ...inZone };
    case 'postgres-table':
      return { ...target, ...inZone, isZoneSet: target.timeZone !== undefined };
    default:
      return target satisfies never;
  }
}

function buildReminders(
  settings: NonNullable<ConnectionSettings['reminders']>,
  fields: readonly FieldMapping[],
  timeZone: string,
  folder: string,
): ReminderSettings {
  const { from, to, before, workingDays, calendar, leadUrl, toColumn, templates, onUnknown } = settings;
  const toField = fields.find(({ column }) => headingKey(column) === headingKey(toColumn ?? ''))?.field;
  return {
    from: from ?? localSender,
    // plan-reminders.ts hashes them as they stand here: in another order every reminder would be planned anew.
    rules: {
      timeZone: settings.timeZone ?? timeZone,
      before,
      quietHours: settings.quietHours ?? null,
      workingDays,
      graceMs: settings.grace,
      skipStages: settings.skipStages ?? [],
      onlyStages: settings.onlyStages ?? null,
      to,
      routes: settings.routes ?? [],
      // checkReminders refuses a column that is not mapped.
      toField: toField ?? null,
      digestAt: settings.digest ?? null,
    },
    calendar,
    leadUrl: leadUrl ?? null,
    templates: templates === undefined ? null : resolve(folder, templates),
    onUnknown,
  };
}

/** The alerts from settings that are right. Without a sender of their own they have that of the first reminders. */
export function buildAlerts(
  { email = [], from, noSuccessFor, ...addresses }: NonNullable<FileSettings['alerts']>,
  connections: readonly ConnectionConfig[],
): AlertSettings {
  const ofReminders = connections.find(({ reminders }) => reminders !== undefined)?.reminders?.from;
  return {
    ...addresses,
    email,
    from: from ?? ofReminders ?? localSender,
    ...(noSuccessFor !== undefined && { noSuccessForMs: noSuccessFor }),
  };
}
