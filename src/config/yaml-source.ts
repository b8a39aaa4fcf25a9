import { dirname } from 'node:path';
import { type Document, LineCounter, parseDocument } from 'yaml';
import type { Mistake } from './config-error.ts';
import type { Environment } from './environment.ts';
import { interpolate } from './interpolate.ts';
import { type Path, showPath } from './settings-lookup.ts';
import type { Source } from './source.ts';
import { yamlOffset } from './yaml-offset.ts';
import { yamlFault } from './yaml-fault.ts';

/** A file as far as it could be read. Without a source it is no YAML at all. */
export interface YamlRead {
  readonly source?: Source;
  readonly mistakes: readonly Mistake[];
}

/**
 * Reads leadsync.yaml and fills in `${NAME}`.
 * @param file absolute path, for the paths in it
 * @param where the file as messages should show it
 */
export function yamlSource(content: string, file: string, where: string, environment: Environment): YamlRead {
  const lines = new LineCounter();
  const document = parseDocument(content, {
    lineCounter: lines,
    prettyErrors: false,
    stringKeys: true,
    logLevel: 'error',
  });
  const lineAt = (offset: number) => lines.linePos(offset).line;
  const faults = [...document.errors, ...document.warnings];
  const mistakes: Mistake[] = faults
    .map(({ code, pos }) => ({ where, line: lineAt(pos[0]), path: '', message: yamlFault(code) }))
    // One slip often shows as several faults side by side.
    .filter(({ line, message }, index, all) => {
      const before = all[index - 1];
      return before?.line !== line || before.message !== message;
    });
  // A doubled key leaves the rest readable; after anything else every further mistake would be a guess.
  if (faults.some(({ code }) => code !== 'DUPLICATE_KEY')) return { mistakes };

  const locate = (path: Path) => {
    const offset = yamlOffset(document, path);
    return { where, ...(offset === undefined ? {} : { line: lineAt(offset) }), path: showPath(path) };
  };
  const secrets = new Set<string>();
  const bad = new Set<string>();
  const fill = (value: unknown, path: Path, above: readonly unknown[]): unknown => {
    if (typeof value === 'string') {
      const filled = interpolate(value, environment);
      if (filled.secret) secrets.add(showPath(path));
      if (filled.faults.length > 0) bad.add(showPath(path));
      for (const { message } of filled.faults) {
        if (message !== undefined) mistakes.push({ ...locate(path), message });
      }
      return filled.value;
    }
    if (typeof value !== 'object' || value === null) return value;
    if (above.includes(value)) {
      bad.add(showPath(path));
      mistakes.push({
        ...locate(path),
        message: 'must not contain itself: an alias names the mapping that it stands in',
      });
      return null;
    }
    const within = [...above, value];
    if (Array.isArray(value)) return value.map((item, index) => fill(item, [...path, index], within));
    // zod passes over this name in silence.
    if (Object.hasOwn(value, '__proto__')) {
      mistakes.push({ ...locate([...path, '__proto__']), message: 'cannot be a name' });
    }
    return Object.fromEntries(
      Object.entries(value).map(([key, item]) => [key, fill(item, [...path, key], within)]),
    );
  };

  const plain = toPlain(document);
  if (plain === undefined) {
    return { mistakes: [...mistakes, { where, path: '', message: yamlFault('RESOURCE_EXHAUSTION') }] };
  }
  const raw = fill(plain.value ?? {}, [], []);
  return {
    source: {
      raw,
      folder: dirname(file),
      locate,
      hint: () => '',
      isSecret: (path) => secrets.has(showPath(path)),
      isKnownBad: (path) => bad.has(showPath(path)),
    },
    mistakes,
  };
}

/** Undefined when aliases repeat each other so often that the result would be huge (yaml's own guard). */
function toPlain(document: Document): { readonly value: unknown } | undefined {
  try {
    return { value: document.toJS() };
  } catch (error) {
    if (error instanceof ReferenceError) return undefined;
    throw error;
  }
}
