import { type Setting, settings } from './settings.ts';

/** A place in the configuration: keys and list positions. */
export type Path = readonly (string | number)[];

const all: readonly Setting[] = settings;

/** The setting at exactly this place. */
export function settingAt(path: Path): Setting | undefined {
  if (path.length === 0) return undefined;
  return all.find((setting) => {
    const segments = segmentsOf(setting);
    return segments.length === path.length && matches(segments, path);
  });
}

/** The setting that this place is (part of) the value of, such as a list's third item. */
export function settingAround(path: Path): Setting | undefined {
  for (let length = path.length; length > 0; length -= 1) {
    const setting = settingAt(path.slice(0, length));
    if (setting !== undefined) return setting;
  }
  return undefined;
}

export function settingOf(variable: string): Setting | undefined {
  return all.find((setting) => setting.variable === variable);
}

/** The keys that may stand below this place; empty where any name may. */
export function keysBelow(path: Path): readonly string[] {
  const below = all
    .map(segmentsOf)
    .filter((segments) => segments.length > path.length && matches(segments, path))
    .map((segments) => segments[path.length] ?? '')
    .filter((key) => !isWildcard(key));
  return [...new Set(below)];
}

/** Where else a key of this name belongs: a place in the file, or a variable. */
export function homeOf(key: string): string | undefined {
  const inFile = all.find((setting) => segmentsOf(setting).at(-1) === key);
  if (inFile?.path !== undefined) return `it belongs at ${inFile.path}`;
  const bare = key.replaceAll(/[-_]/g, '').toUpperCase();
  const variable = all.find((setting) => setting.variable?.replaceAll('_', '') === bare)?.variable;
  return variable === undefined ? undefined : `set ${variable} in the environment instead`;
}

/** Whether a name says that its value is a secret: keys and variables that are not our own. */
export function soundsSecret(name: string): boolean {
  return /key|token|secret|passw|pwd|credential/i.test(name);
}

/** A place as people write it: `connections.berlin.reminders.to[1]`. */
export function showPath(path: Path): string {
  return path
    .map((key, index) => {
      if (typeof key === 'number') return `[${key}]`;
      if (!/^[\w-]+$/.test(key)) return `[${JSON.stringify(key)}]`;
      return index === 0 ? key : `.${key}`;
    })
    .join('');
}

function segmentsOf(setting: Setting): readonly string[] {
  return setting.path?.split('.') ?? [];
}

function matches(segments: readonly string[], path: Path): boolean {
  return path.every((key, index) => {
    const segment = segments[index];
    return segment !== undefined && (isWildcard(segment) || segment === key);
  });
}

function isWildcard(segment: string): boolean {
  return /^[A-Z]+$/.test(segment);
}
