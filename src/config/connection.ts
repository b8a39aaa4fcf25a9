import { resolve } from 'node:path';
import type { Direction, FieldMapping } from '../core/lead/mapping.ts';
import type { ConnectionConfig, ReminderSettings } from './config.ts';
import { effectiveDirection } from './direction.ts';
import { headingKey } from './heading-key.ts';
import type { ConnectionSettings } from './schema.ts';
import { defaultFieldsOf, defaultIdColumn, usualMatchBy } from './target-defaults.ts';

/** Sender of mails that are only written to the outbox. */
export const localSender = 'leadsync@localhost';

/** A connection from settings that are right, with all defaults filled in; `folder` is what paths are relative to. */
export function buildConnection(
  name: string,
  settings: ConnectionSettings,
  folder: string,
): ConnectionConfig {
  const { leads, target, reminders } = settings;
  const { retention, matchBy = usualMatchBy, ...sync } = settings.sync;
  const fields = buildFields(settings, sync.direction);
  return {
    name,
    leads,
    target: buildTarget(target, folder, sync.timeZone),
    fields,
    sync: {
      ...sync,
      schedule: sync.schedule.trim().split(/\s+/).join(' '),
      matchBy: matchBy.filter((name) => fields.some(({ field }) => field === name)),
    },
    retentionDays: retention,
    ...(reminders === undefined
      ? {}
      : { reminders: buildReminders(reminders, fields, sync.timeZone, folder) }),
  };
}

function buildTarget(
  target: ConnectionSettings['target'],
  folder: string,
  timeZone: string,
): ConnectionConfig['target'] {
  const columns = {
    idColumn: target.idColumn ?? defaultIdColumn(target.type),
    ...(target.statusColumn === undefined ? {} : { statusColumn: target.statusColumn }),
    ...(target.marker ? {} : { marker: false as const }),
  };
  if (target.type === 'google-sheets') {
    const { type, spreadsheet, tab, dates, readsPerMinute, writesPerMinute } = target;
    return { type, spreadsheetId: spreadsheet, tab, ...columns, dates, readsPerMinute, writesPerMinute };
  }
  const zone = target.timeZone ?? timeZone;
  switch (target.type) {
    case 'workbook': {
      const { type, path, sheet } = target;
      const place = { path: resolve(folder, path), ...(sheet === undefined ? {} : { sheet }) };
      return { type, ...place, ...columns, timeZone: zone };
    }
    case 'hubspot': {
      const { type, token, portal } = target;
      return { type, token, ...(portal === undefined ? {} : { portal }), ...columns, timeZone: zone };
    }
    case 'postgres-table': {
      const { type, url, table } = target;
      const isZoneSet = target.timeZone !== undefined;
      return { type, url, table, ...columns, timeZone: zone, isZoneSet };
    }
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
  const { toColumn, templates } = settings;
  return {
    from: settings.from ?? localSender,
    rules: {
      timeZone: settings.timeZone ?? timeZone,
      before: settings.before,
      quietHours: settings.quietHours ?? null,
      workingDays: settings.workingDays,
      graceMs: settings.grace,
      skipStages: settings.skipStages ?? [],
      onlyStages: settings.onlyStages ?? null,
      to: settings.to,
      routes: settings.routes ?? [],
      // checkReminders has refused a column that is not mapped.
      toField:
        toColumn === undefined
          ? null
          : (fields.find(({ column }) => headingKey(column) === headingKey(toColumn))?.field ?? null),
      digestAt: settings.digest ?? null,
    },
    calendar: settings.calendar,
    leadUrl: settings.leadUrl ?? null,
    templates: templates === undefined ? null : resolve(folder, templates),
    onUnknown: settings.onUnknown,
  };
}

function buildFields({ fields, target }: ConnectionSettings, connection: Direction): readonly FieldMapping[] {
  if (fields === undefined)
    return defaultFieldsOf(target.type).map((mapping) => ({ ...mapping, direction: connection }));
  return Object.entries(fields).map(([field, entry]) => {
    const written = typeof entry === 'string' ? { column: entry } : entry;
    return {
      field,
      column: written.column,
      type: written.type ?? (field === 'nextFollowUpAt' ? 'instant' : 'text'),
      // checkTogether has refused directions that exclude each other.
      direction: effectiveDirection(connection, written.direction ?? 'two-way') ?? connection,
      ...(written.values === undefined ? {} : { values: written.values }),
    };
  });
}
