/** How long before a follow-up falls due a mail is sent: whole calendar days, and time on the clock (ms). */
export interface Offset {
  /** As it was written: `0m`, `2h`, `1d`. Part of a reminder's key. */
  readonly text: string;
  readonly days: number;
  readonly ms: number;
}

/** ISO weekday: 1 is Monday, 7 is Sunday. */
export type Weekday = 1 | 2 | 3 | 4 | 5 | 6 | 7;

/** A time of the day as minutes since midnight, 0 to 1439. */
type MinuteOfDay = number;

/** Leads that match all of the given fields go to these people instead of `to`. The first match counts. */
interface Route {
  /** Lead field (segment, region, city, stage, or any other mapped field): the values that match, compared without case. */
  readonly when: Readonly<Record<string, readonly string[]>>;
  readonly to: readonly string[];
}

/** When reminders of a connection are sent, and to whom. Pure data. */
export interface ReminderRules {
  /** IANA zone of the recipients. */
  readonly timeZone: string;
  /** Empty: no single mails, the digest alone. */
  readonly before: readonly Offset[];
  /** No mail between these two times of the day; `from` may be later than `to` (over midnight). */
  readonly quietHours: { readonly from: MinuteOfDay; readonly to: MinuteOfDay } | null;
  readonly workingDays: readonly Weekday[];
  /** A mail that could not be sent in time is sent late for so long (ms); after that it is missed. */
  readonly graceMs: number;
  readonly skipStages: readonly string[];
  /** Null: every stage. */
  readonly onlyStages: readonly string[] | null;
  readonly to: readonly string[];
  readonly routes: readonly Route[];
  /** The lead field of the mapped column that holds an e-mail address; it comes before routes, `to` is the fallback. */
  readonly toField: string | null;
  /** Local time of the daily digest. Null: none. */
  readonly digestAt: MinuteOfDay | null;
}
