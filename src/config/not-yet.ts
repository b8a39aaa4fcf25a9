import type { Path } from './settings-lookup.ts';
import { valueAt } from './source.ts';

/** Keys of the design that a later version brings. They are refused: a setting that does nothing would be a lie. */
const keys = ['alerts'];

const targetTypes: readonly unknown[] = ['hubspot'];

export function isKeyToCome(path: Path): boolean {
  return path.length === 1 && keys.includes(String(path[0]));
}

/** What to say of a target of a later version; undefined for anything else. */
export function typeToComeMessage(path: Path, value: unknown): string | undefined {
  if (!isBelowTarget(path) || !targetTypes.includes(value)) return undefined;
  return 'is not supported yet by this version; supported: workbook, google-sheets';
}

/** Whether this is another key of a target of a later version, of which nothing more can be said. */
export function isOfTargetToCome(raw: unknown, path: Path): boolean {
  return (
    isBelowTarget(path) &&
    path[3] !== 'type' &&
    targetTypes.includes(valueAt(raw, [...path.slice(0, 3), 'type']))
  );
}

function isBelowTarget(path: Path): boolean {
  return path[0] === 'connections' && path[2] === 'target';
}
