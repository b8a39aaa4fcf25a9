import type { Logger } from 'pino';
import type pg from 'pg';
import type { CalendarSettings, ConnectionConfig, ReminderSettings } from '../config/config.ts';
import type { Clock } from '../ports/clock.ts';
import type { Templates } from '../reminders/compose/templates.ts';
import type { CalendarRef } from '../store/calendar-entries.ts';
import type { Lease } from '../store/leases.ts';
import type { CalendarClient } from './calendar-client.ts';

export interface CalendarContext {
  readonly pool: pg.Pool;
  readonly log: Logger;
  readonly clock: Clock;
  readonly connection: ConnectionConfig;
  readonly reminders: ReminderSettings;
  readonly calendar: CalendarSettings;
  readonly templates: Templates;
  readonly client: CalendarClient;
  /** Only its holder works on the calendars of the connection. */
  readonly lease: Lease;
  readonly ref: CalendarRef;
}

/** Entries that are read, or begun, together. */
export const entriesAtOnce = 50;
