import { dirname } from 'node:path';
import {
  type Document,
  isAlias,
  isCollection,
  isMap,
  isScalar,
  isSeq,
  LineCounter,
  type Node,
  parseDocument,
} from 'yaml';
import type { Mistake } from './config-error.ts';
import type { Environment } from './environment.ts';
import { type Path, showPath } from './settings.ts';
import type { Source } from './source.ts';

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
      return interpolate(value, environment, {
        onSecret: () => secrets.add(showPath(path)),
        onFault: (message) => {
          bad.add(showPath(path));
          if (message !== undefined) mistakes.push({ ...locate(path), message });
        },
      });
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

/** Where a value begins, or its key when it is a collection or nothing; for what is missing, where it should have been. */
function yamlOffset(document: Document, path: Path): number | undefined {
  let node: unknown = document.contents;
  let offset: number | undefined;
  for (const key of path) {
    const parent = isAlias(node) ? node.resolve(document) : node;
    let next: Node | undefined;
    let keyOffset: number | undefined;
    if (isMap<Node, Node | null>(parent)) {
      // Of two equal keys the last is the one in use.
      const pair = parent.items.findLast(
        (item) => isScalar(item.key) && String(item.key.value) === String(key),
      );
      keyOffset = pair?.key.range?.[0];
      next = pair?.value ?? undefined;
    } else if (isSeq<Node>(parent) && typeof key === 'number') {
      next = parent.items[key];
    }
    const start = next?.range?.[0];
    const hasText = isScalar(next) && next.value !== null;
    offset =
      (hasText ? start : (keyOffset ?? (isCollection(next) ? start : undefined))) ??
      keyOffset ??
      start ??
      offset;
    if (next === undefined) return offset;
    node = next;
  }
  return offset;
}

interface Noted {
  onSecret(): void;
  /** Without a message the mistake is in the environment's list already. */
  onFault(message?: string): void;
}

/** Puts the environment's values in the place of `${NAME}`; `$${` stands for a literal `${`. Values are not looked into again. */
function interpolate(text: string, environment: Environment, noted: Noted): string {
  return text.replaceAll(
    /\$\$\{|\$\{([^}]*)(\}?)/g,
    (match, name: string | undefined, end: string | undefined) => {
      if (name === undefined) return '${';
      if (end !== '}' || !/^[A-Za-z_][A-Za-z0-9_]*$/.test(name)) {
        noted.onFault('must name a variable as ${NAME}; a literal "${" is written "$${"');
        return match;
      }
      const looked = environment.lookup(name);
      if (looked.status === 'found') {
        if (looked.secret) noted.onSecret();
        return looked.value;
      }
      const similar = looked.status === 'unset' ? environment.similar(name) : undefined;
      const meant = similar === undefined ? '' : `; did you mean ${similar}?`;
      noted.onFault(
        looked.status === 'unset'
          ? `needs the environment variable ${name}, which is not set or empty${meant}`
          : undefined,
      );
      return match;
    },
  );
}

/** Our own words for the codes of the yaml package: its messages quote the source, which may hold a secret. */
const sentences: Readonly<Record<string, string>> = {
  DUPLICATE_KEY: 'this key is here already: keep one of the two',
  BAD_INDENT: 'the indentation does not fit the lines above',
  TAB_AS_INDENT: 'indent with spaces, not with tabs',
  MISSING_CHAR:
    'a character is missing here: a closing quote or bracket, a comma, or the blank after a colon',
  BAD_ALIAS:
    'the alias (*name) has no anchor (&name) above it; put a text that begins with "*" or "&" in quotes',
  BAD_SCALAR_START: 'a text cannot begin with this character: put it in quotes',
  BAD_DQ_ESCAPE: 'an unknown escape after a backslash: use single quotes, or two backslashes',
  TAG_RESOLVE_FAILED: 'a text that begins with "!" needs quotes',
  MULTIPLE_DOCS: 'a second document begins here: one file holds one',
  MULTILINE_IMPLICIT_KEY: 'a key must end with a colon on its own line',
  BLOCK_AS_IMPLICIT_KEY:
    'a value after a key cannot be a mapping on the same line: put a text with ": " in quotes',
  BLOCK_IN_FLOW: 'inside { } and [ ] everything is separated by commas',
  UNEXPECTED_TOKEN:
    'something stands here that does not belong to the structure: a text with special characters needs quotes, as in "${NAME}"',
  RESOURCE_EXHAUSTION: 'aliases (*name) repeat too much: write the values out',
};

/** Why a file is no YAML, by the stable code of the yaml package. */
function yamlFault(code: string): string {
  return `not valid YAML: ${sentences[code] ?? `put texts with special characters in quotes (${code})`}`;
}
