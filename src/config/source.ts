import type { Mistake } from './config-error.ts';
import { type Path, settingAround, soundsSecret } from './settings.ts';

/** Replaces an unavailable value, such as that of an unset variable, whose mistake is listed already. */
export const unreadable = Symbol('unreadable');

/** Settings as they were written, before they are checked, and where each was written. */
export interface Source {
  readonly raw: unknown;
  /** Absolute folder that paths in it are relative to. */
  readonly folder: string;
  locate(path: Path): Pick<Mistake, 'where' | 'line' | 'path'>;
  /** The end of a sentence about a missing setting: what may have been meant instead. */
  hint?(path: Path): string;
  /** Whether the value came out of a secret, though the setting is none. */
  isSecret?(path: Path): boolean;
}

/** Adds a mistake of the setting at this place; `name`: of its name, whatever its value is. */
export type Report = (path: Path, message: string, of?: 'name') => void;

/** A mistake at a place, with the value found there unless it is a secret. */
export function mistakeAt(source: Source, path: Path, message: string): Mistake {
  const value = valueAt(source.raw, path);
  const found = value === undefined ? undefined : showFound(source, path, value);
  return { ...source.locate(path), message, ...(found !== undefined && { found }) };
}

export function valueAt(raw: unknown, path: Path): unknown {
  return path.reduce<unknown>((value, key) => {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined;
    return Reflect.get(value, key);
  }, raw);
}

function showFound(source: Source, path: Path, value: unknown): string {
  if (value === null) return 'nothing';
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'object') return 'a mapping';
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  if (source.isSecret?.(path) || isSecretPlace(path) || hasCredentials(text, path)) return '[secret]';
  return JSON.stringify(typeof value === 'string' && text.length > 80 ? `${text.slice(0, 80)}…` : value);
}

function isSecretPlace(path: Path): boolean {
  const name = path.findLast((key) => typeof key === 'string');
  return settingAround(path)?.secret === true || (name !== undefined && soundsSecret(name));
}

/** Addresses carry credentials before an `@`, and the Leads service's might in a query. */
function hasCredentials(text: string, path: Path): boolean {
  return /:\/\/.*@/s.test(text) || (path.at(-1) === 'baseUrl' && /[@?#]/.test(text));
}
