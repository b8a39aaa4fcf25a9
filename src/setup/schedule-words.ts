/** A schedule in words, with its cron pattern: what is offered, and understood when typed. */
export const usualSchedules = [
  { words: 'nightly', cron: '0 2 * * *', means: 'at 2:00 each night' },
  { words: 'hourly', cron: '0 * * * *', means: 'at each full hour' },
  { words: 'every 15 minutes', cron: '*/15 * * * *', means: 'four times an hour' },
  { words: 'weekdays at 6:00', cron: '0 6 * * 1-5', means: 'Monday to Friday' },
] as const;

const dayPatterns: Readonly<Record<string, string>> = {
  daily: '*',
  nightly: '*',
  'every day': '*',
  'every night': '*',
  weekdays: '1-5',
  weekends: '6,0',
};

/**
 * The cron pattern of a schedule in words: `nightly`, `hourly`, `every 20 minutes`, `every 2 hours`, `daily at 7:30`,
 * `weekdays at 6:00`. Anything else is given back as it is, for the rules of cron patterns to judge.
 */
export function cronOf(written: string): string {
  const text = written.trim().toLowerCase().replaceAll(/\s+/g, ' ');
  const usual = usualSchedules.find(({ words }) => words === text);
  if (usual !== undefined) return usual.cron;
  const [, number, unit] = /^every (?:(\d{1,2}) )?(minute|hour)s?$/.exec(text) ?? [];
  // What does not divide the hour or day would be uneven.
  const [step, whole] = [Number(number ?? 1), unit === 'minute' ? 60 : 24];
  if (unit !== undefined && step > 0 && whole % step === 0) {
    if (step === whole) return unit === 'minute' ? '0 * * * *' : '0 0 * * *';
    const steps = step === 1 ? '*' : `*/${step}`;
    return unit === 'minute' ? `${steps} * * * *` : `0 ${steps} * * *`;
  }
  const [, days = '', hours, minutes] = /^(\D+?)(?: at)? ([01]?\d|2[0-3]):([0-5]\d)$/.exec(text) ?? [];
  const pattern = Object.hasOwn(dayPatterns, days) ? dayPatterns[days] : undefined;
  return pattern === undefined ? written.trim() : `${Number(minutes)} ${Number(hours)} * * ${pattern}`;
}
