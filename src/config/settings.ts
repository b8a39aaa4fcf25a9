import { z } from 'zod';
import { processSchema } from './process-schema.ts';
import { fileSchema } from './schema.ts';
import type { Secret } from './secret.ts';

export type Path = readonly (string | number)[];

export interface Setting {
  /** Secrets are also taken from the file that `<variable>_FILE` names. */
  readonly variable?: string;
  /** Place in the schema, with dots; a segment in capitals matches any name. */
  readonly place: string;
  /** The same place in leadsync.yaml; absent for settings of the environment alone. */
  readonly path?: string;
  /** As one would write it. Absent: required, or nothing happens without it (the meaning says which). */
  readonly default?: string;
  readonly meaning: string;
  readonly secret?: true;
  /** A list, which its variable holds with commas. */
  readonly list?: true;
  /** The kinds of target that have it; absent when it is no setting of a target. */
  readonly only?: readonly string[];
}

export const fileSettings: readonly Setting[] = settingsOf(fileSchema).map((setting) => ({
  ...setting,
  path: setting.place,
}));

export const processSettings: readonly Setting[] = settingsOf(processSchema);

export const settings: readonly Setting[] = [...fileSettings, ...processSettings];

/** The setting that this place is (part of) the value of, such as a list's third item. */
export function settingAround(path: Path): Setting | undefined {
  return settings.findLast(({ place }) =>
    place.split('.').every((segment, index) => fits(segment, path[index])),
  );
}

export function settingAt(path: Path): Setting | undefined {
  const setting = settingAround(path);
  return setting?.place.split('.').length === path.length ? setting : undefined;
}

export function settingOf(variable: string): Setting | undefined {
  return settings.find((setting) => setting.variable === variable);
}

/** The keys that leadsync.yaml may have below this place; empty where any name is allowed. */
export function keysBelow(path: Path): readonly string[] {
  const below = fileSettings
    .map(({ place }) => place.split('.'))
    .filter((segments) => path.every((key, index) => fits(segments[index], key)))
    .map((segments) => segments[path.length] ?? '')
    .filter((key) => key !== '' && !isWildcard(key));
  return [...new Set(below)];
}

/** Where else a key of this name belongs: a place in the file, or a variable. */
export function homeOf(key: string): string | undefined {
  const inFile = fileSettings.find(({ place }) => place.split('.').at(-1) === key);
  if (inFile !== undefined) return `it belongs at ${inFile.place}`;
  const bare = key.replaceAll(/[-_]/g, '').toUpperCase();
  const variable = settings.find((setting) => setting.variable?.replaceAll('_', '') === bare)?.variable;
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

function fits(segment: string | undefined, key: string | number | undefined): boolean {
  return segment !== undefined && key !== undefined && (isWildcard(segment) || segment === key);
}

function isWildcard(segment: string): boolean {
  return /^[A-Z]+$/.test(segment);
}

type Def = z.core.$ZodTypes['_zod']['def'];

/** What a value is within the layers around it (optional, default, transform), and what all of them say of it. */
function unwrap(schema: z.core.$ZodType): { def: Def; meta: z.GlobalMeta; preset?: unknown } {
  const { def } = (schema as z.core.$ZodTypes)._zod;
  const inner = 'innerType' in def ? def.innerType : def.type === 'pipe' ? def.in : undefined;
  const meta = z.globalRegistry.get(schema);
  if (inner === undefined) return { def, meta: { ...meta } };
  const below = unwrap(inner);
  return {
    ...below,
    meta: { ...below.meta, ...meta },
    ...('defaultValue' in def && { preset: def.defaultValue }),
  };
}

function settingsOf(schema: z.core.$ZodType, place = ''): readonly Setting[] {
  const { def, meta, preset } = unwrap(schema);
  const { env, secret, description } = meta;
  const own: Setting = {
    ...(env !== undefined && { variable: env }),
    place,
    ...(preset !== undefined && { default: written(preset) }),
    meaning: description ?? '',
    ...(secret && { secret }),
    ...(def.type === 'array' && { list: true }),
  };
  return [...(description === undefined ? [] : [own]), ...settingsWithin(def, place)];
}

function written(preset: unknown): string {
  if (Array.isArray(preset)) return `[${preset.join(', ')}]`;
  return typeof preset === 'string' ? preset : JSON.stringify(preset);
}

function settingsWithin(def: Def, place: string): readonly Setting[] {
  const below = (key: string) => (place === '' ? key : `${place}.${key}`);
  switch (def.type) {
    case 'object':
      return Object.entries(def.shape).flatMap(([key, inner]) => settingsOf(inner, below(key)));
    case 'record':
      return settingsOf(def.valueType, below(unwrap(def.keyType).meta.title ?? 'NAME'));
    case 'array':
      return settingsOf(def.element, below('INDEX'));
    case 'union':
      return 'discriminator' in def
        ? settingsOfKinds(def.options, place)
        : def.options.flatMap((option) => settingsWithin(unwrap(option).def, place));
    default:
      return [];
  }
}

/** The settings of all kinds of target, each once: `type` and those of one kind first, then what several share. */
function settingsOfKinds(options: readonly z.core.$ZodType[], place: string): readonly Setting[] {
  const all = options.flatMap((option) => {
    const { type } = (option as z.ZodObject<{ type: z.ZodLiteral<string> }>).shape;
    return settingsOf(option, place).map((setting) => ({ setting, kind: type.value }));
  });
  const merged = [...Map.groupBy(all, ({ setting }) => setting.place)].flatMap(([at, same]) => {
    const only = same.map(({ kind }) => kind);
    const isShared = only.length > 1 && at !== `${place}.type`;
    return same.slice(0, 1).map(({ setting }) => ({ isShared, setting: { ...setting, only } }));
  });
  return merged.toSorted((a, b) => Number(a.isShared) - Number(b.isShared)).map(({ setting }) => setting);
}

export type Readable<T> = T extends Secret | string | number | boolean | undefined
  ? T | undefined
  : { readonly [K in keyof T]?: Readable<T[K]> | undefined };

/** What a schema makes of a value as far as it is right: what is of a wrong kind is left out, defaults are filled in, rules for texts and lists are passed over. */
export function readable<T>(schema: z.ZodType<T>, raw: unknown): Readable<T> | undefined {
  return read(schema, raw) as Readable<T> | undefined;
}

function read(schema: z.core.$ZodType, raw: unknown): unknown {
  const { def } = (schema as z.core.$ZodTypes)._zod;
  if ('innerType' in def) {
    const preset = 'defaultValue' in def ? def.defaultValue : undefined;
    const found = raw === undefined ? undefined : read(def.innerType, raw);
    return found === undefined && preset !== undefined ? read(def.innerType, preset) : found;
  }
  switch (def.type) {
    case 'object': {
      if (!isMapping(raw)) return undefined;
      return Object.fromEntries(
        Object.entries(def.shape).map(([key, inner]) => [key, read(inner, raw[key])]),
      );
    }
    case 'record': {
      const entries = isMapping(raw) ? Object.entries(raw) : [];
      return Object.fromEntries(entries.map(([key, value]) => [key, read(def.valueType, value)]));
    }
    case 'array':
      return Array.isArray(raw) ? raw.map((item) => read(def.element, item)) : undefined;
    case 'union': {
      const key = 'discriminator' in def ? String(def.discriminator) : undefined;
      const forms = def.options.map((option) => read(option, raw)).filter((form) => form !== undefined);
      return (
        forms.find((form) => key === undefined || (isMapping(form) && form[key] !== undefined)) ?? forms[0]
      );
    }
    case 'string':
      return typeof raw === 'string' ? raw : undefined;
    default:
      return z.safeParse(schema, raw).data;
  }
}

function isMapping(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
