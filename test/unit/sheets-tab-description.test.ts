import { expect, test } from 'vitest';
import { readTab } from '../../src/targets/google-sheets/tab-description.ts';

const properties = { timeZone: 'Europe/Berlin', locale: 'de_DE' };
const sheet = (sheetId: number, title: string) => ({ properties: { sheetId, title } });

test.each([undefined, '', null])(
  'without a time zone (%j) nothing is read: it would be guessed',
  (timeZone) => {
    const { locale } = properties;
    const told = timeZone === undefined ? { locale } : { locale, timeZone };
    expect(() => readTab({ properties: told, sheets: [sheet(1, 'Leads')] }, 'Leads')).toThrow(
      expect.objectContaining({ code: 'target.unavailable', retry: 'now' }),
    );
  },
);

test('a tab is found by its title, in whatever case', () => {
  const found = (titles: readonly string[]) =>
    readTab({ properties, sheets: titles.map((title, at) => sheet(at, title)) }, 'Leads');
  expect(found(['Other', 'Leads'])).toMatchObject({ sheetId: 1 });
  expect(found(['Other', 'LEADS'])).toMatchObject({ sheetId: 1 });
  expect(found(['Other', 'Lead'])).toBeNull();
});
