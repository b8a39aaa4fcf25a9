import { z } from 'zod';
import { processSchema } from './process-schema.ts';
import { fileSchema } from './schema.ts';

/** A place in the configuration: keys and list positions. */
export type Path = readonly (string | number)[];

/** One setting, as its schema describes it. */
export interface Setting {
  /** Environment variable. Secrets are also taken from the file that `<variable>_FILE` names. */
  readonly variable?: string;
  /** Place in the schema, with dots; a segment in capitals stands for any name. */
  readonly place: string;
  /** The same place in leadsync.yaml; absent for what stands in the environment alone. */
  readonly path?: string;
  /** As one would write it. Absent: required, or nothing happens without it (the meaning says which). */
  readonly default?: string;
  readonly meaning: string;
  readonly secret?: true;
  /** A list, which its variable holds with commas. */
  readonly list?: true;
  /** The kinds of target that alone have it. */
  readonly only?: readonly string[];
}

/** The settings of leadsync.yaml. */
export const fileSettings: readonly Setting[] = settingsOf(fileSchema).map((setting) => ({
  ...setting,
  path: setting.place,
}));

/** The settings of the process as a whole. */
export const processSettings: readonly Setting[] = settingsOf(processSchema);

export const settings: readonly Setting[] = [...fileSettings, ...processSettings];

/** The setting at exactly this place of the file. */
export function settingAt(path: Path): Setting | undefined {
  if (path.length === 0) return undefined;
  return fileSettings.find((setting) => {
    const segments = setting.place.split('.');
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
  return settings.find((setting) => setting.variable === variable);
}

/** The keys that may stand below this place; empty where any name may. */
export function keysBelow(path: Path): readonly string[] {
  const below = fileSettings
    .map(({ place }) => place.split('.'))
    .filter((segments) => segments.length > path.length && matches(segments, path))
    .map((segments) => segments[path.length] ?? '')
    .filter((key) => !isWildcard(key));
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

function matches(segments: readonly string[], path: Path): boolean {
  return path.every((key, index) => {
    const segment = segments[index];
    return segment !== undefined && (isWildcard(segment) || segment === key);
  });
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

/** Each described value of a schema, from top to bottom. */
function settingsOf(schema: z.core.$ZodType, place = ''): readonly Setting[] {
  const { def, meta, preset } = unwrap(schema);
  const { env, secret, description } = meta;
  const below = (key: string) => (place === '' ? key : `${place}.${key}`);
  const own: Setting = {
    ...(env !== undefined && { variable: env }),
    place,
    ...(preset !== undefined && {
      default: Array.isArray(preset)
        ? `[${preset.join(', ')}]`
        : typeof preset === 'string'
          ? preset
          : JSON.stringify(preset),
    }),
    meaning: description ?? '',
    ...(secret && { secret }),
    ...(def.type === 'array' && { list: true }),
  };
  return [...(description === undefined ? [] : [own]), ...settingsWithin(def, below, place)];
}

function settingsWithin(def: Def, below: (key: string) => string, place: string): readonly Setting[] {
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
        : def.options.flatMap((option) => settingsWithin(unwrap(option).def, below, place));
    default:
      return [];
  }
}

/** The settings of the forms that a value can have, each once: what several kinds share comes last, but for what tells them apart. */
function settingsOfKinds(options: readonly z.core.$ZodType[], place: string): readonly Setting[] {
  const forms = options.map((option) => settingsOf(option, place));
  const kinds = options.map(kindOf);
  const merged = forms.flat().flatMap((setting, index, all) => {
    if (all.findIndex((other) => other.place === setting.place) < index) return [];
    const only = kinds.filter((_, form) => forms[form]?.some((other) => other.place === setting.place));
    return [only.length === kinds.length ? setting : { ...setting, only }];
  });
  const isOwn = ({ only, place: at }: Setting) => only?.length === 1 || at === `${place}.type`;
  return [...merged.filter(isOwn), ...merged.filter((setting) => !isOwn(setting))];
}

function kindOf(option: z.core.$ZodType): string {
  const { def } = unwrap(option);
  const type = def.type === 'object' ? def.shape['type'] : undefined;
  const literal = type === undefined ? undefined : unwrap(type).def;
  return literal?.type === 'literal' ? literal.values.join('') : '';
}
