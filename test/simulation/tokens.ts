import { readInstant } from '../../src/core/lead/instant.ts';

export const columns = {
  companyName: 'Company',
  segment: 'Segment',
  city: 'City',
  region: 'Region',
  stage: 'Stage',
  nextFollowUpAt: 'Next follow-up',
} as const;
export type Field = keyof typeof columns;
export const fieldNames = ['companyName', 'segment', 'city', 'region', 'stage', 'nextFollowUpAt'] as const;

/** An id as the service has it: programs write a UUID in capitals or in braces. */
export function plainId(text: string): string {
  return text.replaceAll(/[{}]/g, '').toLowerCase();
}

/** Which company a name belongs to: every name carries it. */
export function entityOf(name: string): string | null {
  return /\bn\d+n\b/.exec(name)?.[0] ?? null;
}

/** The unique values in a text: words such as `e12e`, and instants, each of which was typed once. */
export function tokensOf(text: string): string[] {
  return (
    text
      .match(/\be\d+e\b|20[3-9]\d-\d\d-\d\d[T ]\d\d:\d\d|\d\d\.\d\d\.20[3-9]\d \d\d:\d\d/g)
      ?.map(canonicalToken) ?? []
  );
}

export function canonicalToken(token: string): string {
  const german = /^(\d\d)\.(\d\d)\.(\d{4}) (.*)$/.exec(token);
  if (german !== null) return `${german[3]}-${german[2]}-${german[1]} ${german[4]}`;
  return token.replace('T', ' ');
}

/** Whether a lead is one of the other connection's (branch.ts). */
export function isOfBranch(name: string): boolean {
  return /\bBranch\b/.test(name);
}

/** A value as both sides have it. */
export function shown(field: Field, value: string | null | undefined): string {
  const text = (value ?? '').replace(/^'(?=\s*[=+@-])/, '').trim();
  return field === 'nextFollowUpAt' && text !== '' ? (readInstant(text, 'UTC') ?? text) : text;
}

/** The id of a record as leadsync compares it; empty: none. */
export function idOf(record: readonly string[], headings: readonly string[]): string {
  return plainId(record[headings.indexOf('Lead ID')] ?? '');
}
