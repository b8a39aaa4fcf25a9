/** The notation of numbers and dates in a locale, such as `en_US` or `de_DE`. */
export interface LocaleRules {
  readonly decimal: string;
  readonly group: string;
  /** The order of a date's parts, such as `['month', 'day', 'year']`. */
  readonly order: readonly ('day' | 'month' | 'year')[];
  /** Default patterns of number formats. */
  readonly datePattern: string;
  readonly dateTimePattern: string;
}

const known = new Map<string, LocaleRules>();

export function localeRules(locale: string): LocaleRules {
  let rules = known.get(locale);
  if (rules === undefined) {
    rules = readRules(locale.replaceAll('_', '-'));
    known.set(locale, rules);
  }
  return rules;
}

function readRules(tag: string): LocaleRules {
  const numbers = new Intl.NumberFormat(tag, { useGrouping: true }).formatToParts(12_345.6);
  const options = { year: 'numeric', month: 'numeric', day: 'numeric' } as const;
  const parts = new Intl.DateTimeFormat(tag, options).formatToParts(0);
  const letters: Readonly<Record<string, string>> = { year: 'yyyy', month: 'M', day: 'd' };
  const datePattern = parts.map((part) => letters[part.type] ?? part.value).join('');
  return {
    decimal: numbers.find((part) => part.type === 'decimal')?.value ?? '.',
    group: numbers.find((part) => part.type === 'group')?.value ?? ',',
    order: parts
      .map((part) => part.type)
      .filter((type) => type === 'day' || type === 'month' || type === 'year'),
    datePattern,
    dateTimePattern: `${datePattern} H:mm:ss`,
  };
}
