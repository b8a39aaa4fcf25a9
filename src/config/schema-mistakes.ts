import type { z } from 'zod';
import type { Mistake } from './config-error.ts';
import { didYouMean, nearestName } from './nearest-name.ts';
import { homeOf, keysBelow, type Path, settingAt } from './settings.ts';
import { mistakeAt, type Source, valueAt } from './source.ts';

type Issue = z.core.$ZodIssue;

/** What zod found, as mistakes for people: each with its place, the value found and what is allowed. */
export function schemaMistakes(
  source: Source,
  issues: readonly Issue[],
  base: Path = [],
): readonly Mistake[] {
  return issues.flatMap((issue) => {
    const path = [...base, ...issue.path.map((key) => (typeof key === 'symbol' ? String(key) : key))];
    return source.isKnownBad(path) ? [] : issueMistakes(source, issue, path);
  });
}

function issueMistakes(source: Source, issue: Issue, path: Path): readonly Mistake[] {
  const value = valueAt(source.raw, path);
  if (issue.code === 'unrecognized_keys') return issue.keys.map((key) => unknownKey(source, path, key));
  if (issue.code === 'invalid_key') {
    const message = issue.issues.map((inner) => inner.message).join('; ');
    return [{ ...source.locate(path), message }];
  }
  if (value === undefined && issue.code !== 'custom')
    return [mistakeAt(source, path, `${missing(path)}${source.hint(path)}`)];
  switch (issue.code) {
    case 'invalid_type':
      return [mistakeAt(source, path, expectation(issue.expected, value))];
    case 'invalid_value':
      return [mistakeAt(source, path, choice(issue.values.map(String), value))];
    case 'invalid_union':
      return unionMistakes(source, issue, path);
    default:
      return [mistakeAt(source, path, issue.message)];
  }
}

function unknownKey(source: Source, parent: Path, key: string): Mistake {
  const path = [...parent, key];
  const place = source.locate(path);
  const kind = valueAt(source.raw, [...parent, 'type']);
  const allowed = keysBelow(parent).filter((known) => {
    const only = settingAt([...parent, known])?.only;
    return only === undefined || only.some((type) => type === kind);
  });
  const hint = didYouMean(key, allowed);
  const home = hint === '' ? homeOf(key) : undefined;
  const elsewhere = home === undefined ? '' : `; ${home}`;
  return { ...place, message: `is not a known key; allowed here: ${allowed.join(', ')}${hint}${elsewhere}` };
}

/** Only the form that was meant is worth a message: the one whose kind of value (text, mapping) was found. */
function unionMistakes(source: Source, issue: z.core.$ZodIssueInvalidUnion, path: Path): readonly Mistake[] {
  const meant = issue.errors.filter(
    (branch) => !branch.some((inner) => inner.code === 'invalid_type' && inner.path.length === 0),
  );
  const [branch] = meant;
  if ('options' in issue && issue.options !== undefined)
    return [mistakeAt(source, path, choice(issue.options.map(String), valueAt(source.raw, path)))];
  if (meant.length === 1 && branch !== undefined) return schemaMistakes(source, branch, path);
  return [mistakeAt(source, path, issue.message)];
}

function missing(path: Path): string {
  const meaning = settingAt(path)?.meaning;
  if (meaning !== undefined) return `is missing: ${meaning}`;
  const keys = keysBelow(path);
  return keys.length === 0 ? 'is missing' : `is missing: a mapping with ${keys.join(', ')}`;
}

function expectation(expected: string, value: unknown): string {
  switch (expected) {
    case 'string':
      return typeof value === 'number' || typeof value === 'boolean'
        ? 'must be text: put it in quotes'
        : 'must be text';
    case 'array':
      return 'must be a list';
    case 'object':
    case 'record':
      return 'must be a mapping';
    default:
      return `must be a ${expected}`;
  }
}

function choice(allowed: readonly string[], value: unknown): string {
  const nearest = typeof value === 'string' && allowed.length > 1 ? nearestName(value, allowed) : undefined;
  return `must be ${allowed.length > 1 ? 'one of ' : ''}${allowed.join(', ')}${nearest === undefined ? '' : `; did you mean "${nearest}"?`}`;
}
