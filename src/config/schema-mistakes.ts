import type { z } from 'zod';
import type { Mistake } from './config-error.ts';
import { noLongerSetting } from './former-settings.ts';
import { didYouMean } from '../core/lead/nearest-name.ts';
import { homeOf, keysBelow, type Path, settingAt } from './settings.ts';
import { mistakeAt, type Source, unreadable, valueAt } from './source.ts';

type Issue = z.core.$ZodIssue;

export function schemaMistakes(
  source: Source,
  issues: readonly Issue[],
  base: Path = [],
): readonly Mistake[] {
  return issues.flatMap((issue) => {
    const path = [...base, ...(issue.path as Path)];
    const value = valueAt(source.raw, path);
    if (value === unreadable) return [];
    if (issue.code === 'unrecognized_keys') return issue.keys.map((key) => unknownKey(source, path, key));
    if (issue.code === 'invalid_key')
      return [{ ...source.locate(path), message: issue.issues[0]?.message ?? issue.message }];
    const branch = issue.code === 'invalid_union' ? branchMeant(issue) : undefined;
    if (branch !== undefined) return schemaMistakes(source, branch, path);
    const isMissing = value === undefined && issue.code !== 'custom';
    return [mistakeAt(source, path, isMissing ? missing(source, path) : messageOf(issue, value))];
  });
}

/** The mistakes of the one form of a setting whose kind of value (text, mapping) was found; undefined: none or several. */
function branchMeant({ errors }: z.core.$ZodIssueInvalidUnion): readonly Issue[] | undefined {
  const [meant, ...others] = errors.filter(
    (branch) => !branch.some(({ code, path }) => code === 'invalid_type' && path.length === 0),
  );
  return others.length === 0 ? meant : undefined;
}

function messageOf(issue: Issue, value: unknown): string {
  switch (issue.code) {
    case 'invalid_type':
      return expectation(issue.expected, value);
    case 'invalid_value':
      return choice(issue.values.map(String), value);
    case 'invalid_union':
      return 'options' in issue && issue.options !== undefined
        ? choice(issue.options.map(String), value)
        : issue.message;
    default:
      return issue.message;
  }
}

function unknownKey(source: Source, parent: Path, key: string): Mistake {
  const former = noLongerSetting([...parent, key]);
  if (former !== undefined) return { ...source.locate([...parent, key]), message: former };
  const kind = valueAt(source.raw, [...parent, 'type']);
  const allowed = keysBelow(parent).filter((known) => {
    const only = settingAt([...parent, known])?.only;
    return only === undefined || only.some((type) => type === kind);
  });
  const meant = didYouMean(key, allowed);
  const home = meant === '' ? homeOf(key) : undefined;
  const hint = home === undefined ? meant : `; ${home}`;
  return {
    ...source.locate([...parent, key]),
    message: `is not a known key; allowed here: ${allowed.join(', ')}${hint}`,
  };
}

function missing(source: Source, path: Path): string {
  const keys = keysBelow(path);
  const what =
    settingAt(path)?.meaning ?? (keys.length > 0 ? `a mapping with ${keys.join(', ')}` : undefined);
  return `is missing${what === undefined ? '' : `: ${what}`}${source.hint?.(path) ?? ''}`;
}

const kindNames: Readonly<Record<string, string>> = {
  string: 'text',
  array: 'a list',
  object: 'a mapping',
  record: 'a mapping',
};

function expectation(expected: string, value: unknown): string {
  const isBare = expected === 'string' && (typeof value === 'number' || typeof value === 'boolean');
  return `must be ${kindNames[expected] ?? `a ${expected}`}${isBare ? ': put it in quotes' : ''}`;
}

function choice(allowed: readonly string[], value: unknown): string {
  return `must be one of ${allowed.join(', ')}${typeof value === 'string' ? didYouMean(value, allowed) : ''}`;
}
