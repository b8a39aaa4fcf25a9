import { resolve } from 'node:path';
import { defaultFields, type Direction, type FieldMapping } from '../lead/mapping.ts';
import type { ConnectionConfig } from './config.ts';
import { effectiveDirection } from './direction.ts';
import type { ConnectionSettings } from './schema.ts';

/** Sender of mails that are only written to the outbox. */
const localSender = 'leadsync@localhost';

/** A connection from settings that are right, with all defaults filled in; `folder` is what paths are relative to. */
export function buildConnection(
  name: string,
  settings: ConnectionSettings,
  folder: string,
): ConnectionConfig {
  const { leads, target, reminders } = settings;
  const { retention, ...sync } = settings.sync;
  return {
    name,
    leads,
    target: {
      type: target.type,
      path: resolve(folder, target.path),
      ...(target.sheet === undefined ? {} : { sheet: target.sheet }),
      idColumn: target.idColumn,
      ...(target.statusColumn === undefined ? {} : { statusColumn: target.statusColumn }),
      timeZone: target.timeZone ?? sync.timeZone,
    },
    fields: buildFields(settings.fields, sync.direction),
    sync: {
      ...sync,
      schedule: sync.schedule.trim().split(/\s+/).join(' '),
    },
    retentionDays: retention,
    ...(reminders === undefined
      ? {}
      : {
          reminders: {
            from: reminders.from ?? localSender,
            to: reminders.to,
            timeZone: reminders.timeZone ?? sync.timeZone,
          },
        }),
  };
}

function buildFields(fields: ConnectionSettings['fields'], connection: Direction): readonly FieldMapping[] {
  if (fields === undefined) return defaultFields.map((mapping) => ({ ...mapping, direction: connection }));
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
