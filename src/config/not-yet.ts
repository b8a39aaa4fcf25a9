import type { Path } from './settings-lookup.ts';

/** Keys of the design that a later version brings. They are refused: a setting that does nothing would be a lie. */
const keys = ['alerts'];

export function isKeyToCome(path: Path): boolean {
  return path.length === 1 && keys.includes(String(path[0]));
}
