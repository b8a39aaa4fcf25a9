import { Temporal } from 'temporal-polyfill';

const dayMs = 86_400_000;
/** 1899-12-30 UTC in epoch days: day 0 of the 1900 system after its non-existent 29 February. */
const epoch1900 = -25_569;
/** 1904-01-01. */
const epoch1904 = -24_107;
/** 9999-12-31 in the 1900 system: the last date a cell can show. */
const lastDay = 2_958_465;

/** Converts between a workbook's day numbers, which are local time, and moments. One per time zone. */
export class SerialClock {
  readonly timeZone: string;
  readonly #date1904: boolean;
  /** By day (UTC), as `#steadyOffset`. */
  readonly #offsets = new Map<number, number | null>();

  constructor(timeZone: string, date1904: boolean) {
    this.timeZone = timeZone;
    this.#date1904 = date1904;
  }

  /**
   * Canonical ISO, to the ms; null for no date: before day 1, 29 February 1900, after 9999, or a time that the clocks skip.
   * Ambiguous and skipped local times as in lead/instant.ts.
   */
  toInstant(serial: number): string | null {
    const local = this.#localMs(serial);
    const epoch = local === null ? null : this.#toEpoch(local);
    return epoch === null ? null : new Date(epoch).toISOString();
  }

  /** Whether a number is a date and a time that the clocks skip. */
  isSkipped(serial: number): boolean {
    const local = this.#localMs(serial);
    return local !== null && this.#toEpoch(local) === null;
  }

  /** The date as the cell shows it: `2026-11-21`, `2026-11-21 09:30`, with seconds if any. */
  toLocalText(serial: number): string | null {
    const local = this.#localMs(serial);
    if (local === null) return null;
    const [date = '', time = ''] = new Date(local).toISOString().split('T');
    if (local % dayMs === 0) return date;
    return `${date} ${time.replace(/(:00)?\.000Z$|Z$/, '')}`;
  }

  /** The number that `toInstant` reads as exactly this moment, a whole one for a day; null: none. */
  fromInstant(instant: string): number | null {
    const epoch = Date.parse(instant);
    const day = epoch / dayMs - epoch1900;
    // A day off either end of the calendar, whose offset cannot be asked for, is far outside.
    if (day < -1 || day > lastDay + 2) return null;
    const local = this.#toLocal(epoch);
    const days = local / dayMs - (this.#date1904 ? epoch1904 : epoch1900);
    const text = new Date(epoch).toISOString();
    // A day that begins at 01:00 is still a day without a time.
    const whole = Math.floor(days);
    if (days - whole < 1 / 8 && this.toInstant(whole) === text) return whole;
    return this.toInstant(days) === text ? days : null;
  }

  #localMs(serial: number): number | null {
    const most = this.#date1904 ? lastDay - (epoch1904 - epoch1900) : lastDay;
    if (!(serial >= 1 && serial < most + 1)) return null;
    if (this.#date1904) return Math.round((serial + epoch1904) * dayMs);
    if (serial >= 60 && serial < 61) return null;
    return Math.round((serial + epoch1900 + (serial < 60 ? 1 : 0)) * dayMs);
  }

  /** Null: the clocks skip this time. */
  #toEpoch(local: number): number | null {
    const offset = this.#steadyOffset(local);
    return offset === null ? this.#exactly(local) : local - offset;
  }

  #exactly(local: number): number | null {
    const wall = Temporal.Instant.fromEpochMilliseconds(local).toZonedDateTimeISO('UTC').toPlainDateTime();
    // A day begins, though the clocks skip its midnight.
    const moment =
      local % dayMs === 0
        ? wall.toPlainDate().toZonedDateTime(this.timeZone)
        : wall.toZonedDateTime(this.timeZone);
    return local % dayMs === 0 || moment.toPlainDateTime().equals(wall) ? moment.epochMilliseconds : null;
  }

  #toLocal(epoch: number): number {
    return epoch + (this.#steadyOffset(epoch) ?? offsetOf(this.#zoned(epoch)));
  }

  /** The zone's UTC offset (ms) on the day of a time, local or not, and on those beside it; null: the clocks change. */
  #steadyOffset(ms: number): number | null {
    const day = Math.floor(ms / dayMs);
    let offset = this.#offsets.get(day);
    if (offset === undefined) {
      const before = this.#zoned((day - 1) * dayMs);
      const change = before.getTimeZoneTransition('next')?.epochMilliseconds ?? Number.POSITIVE_INFINITY;
      offset = change < (day + 2) * dayMs ? null : offsetOf(before);
      this.#offsets.set(day, offset);
    }
    return offset;
  }

  #zoned(epoch: number): Temporal.ZonedDateTime {
    return Temporal.Instant.fromEpochMilliseconds(epoch).toZonedDateTimeISO(this.timeZone);
  }
}

const offsetOf = ({ offsetNanoseconds }: Temporal.ZonedDateTime): number => offsetNanoseconds / 1_000_000;
