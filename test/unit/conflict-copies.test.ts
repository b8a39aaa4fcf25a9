import { expect, test } from 'vitest';
import { isConflictCopy } from '../../src/targets/local/local-place.ts';

test.each([
  'leads.sync-conflict-20260101-120000-ABCDEFG.xlsx',
  'leads.sync-conflict-20260101-120000.xlsx',
  "leads (Anna's conflicted copy 2026-01-01).xlsx",
  "leads (Anna's conflicted copy 2026-01-01 (1)).xlsx",
  'leads (In Konflikt stehende Kopie von Anna 2026-01-01).xlsx',
  'leads (Copie en conflit de Anna 2026-01-01).xlsx',
  'leads (Copia en conflicto de Anna 2026-01-01).xlsx',
  'leads (Copia in conflitto di Anna 2026-01-01).xlsx',
  'leads (Cópia em conflito de Anna 2026-01-01).xlsx',
  'leads (kopia powodująca konflikty 2026-01-01).xlsx',
  'leads (Anna の競合コピー 2026-01-01).xlsx',
  'leads (конфликтующая копия Anna 2026-01-01).xlsx',
  'leads (conflicted copy 2026-01-01 120000).xlsx',
  'leads (conflicted copy Anna 2026-01-01 120000).xlsx',
  'leads_conflict-20260101-120000.xlsx',
  'leads [Conflict].xlsx',
  'leads (SFConflict anna@example.com 2026-01-01-12-00-00).XLSX',
  'leads-DESKTOP-AB12CD3.xlsx',
  'leads-DESKTOP-AB12CD3-2.xlsx',
  'leads-COMPUTERNAME.xlsx',
  'leads-ANNA-PC.xlsx',
  'leads-Annas-MacBook-Pro.xlsx',
])('%s is a conflict copy', (name) => {
  expect(isConflictCopy(name, 'leads.xlsx')).toBe(true);
});

test.each([
  'leads.xlsx',
  'leads (1).xlsx',
  'leads - Copy.xlsx',
  'leads 2026-01-01.xlsx',
  'leads (2026-01-01).xlsx',
  'leads-2026-Q1.xlsx',
  'leads-EU.xlsx',
  'leads-BERLIN.xlsx',
  'leads-OLD-2025.xlsx',
  'leads-backup.xlsx',
  'leads conflicts.xlsx',
  'misleads (conflicted copy 2026-01-01 120000).xlsx',
  'other (conflicted copy 2026-01-01 120000).xlsx',
  'leads (conflicted copy 2026-01-01 120000).csv',
  '.~lock.leads.xlsx#',
  '~$leads.xlsx',
])('%s is none', (name) => {
  expect(isConflictCopy(name, 'leads.xlsx')).toBe(false);
});

test('a letter with an accent in two spellings is one', () => {
  expect(isConflictCopy('Zu\u0308ge (conflicted copy 2026-01-01 120000).csv', 'Z\u00fcge.csv')).toBe(true);
  expect(isConflictCopy('LEADS-2026-EAST-1.csv', 'LEADS.csv')).toBe(false);
});
