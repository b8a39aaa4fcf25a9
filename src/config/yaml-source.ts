import { dirname } from 'node:path';
import {
  isAlias,
  isMap,
  isScalar,
  isSeq,
  LineCounter,
  type Node,
  type Pair,
  parseDocument,
  type Scalar,
} from 'yaml';
import { type Mistake, type Source, unreadable } from './mistakes.ts';
import type { Environment } from './environment.ts';
import { type Path, showPath } from './settings.ts';

/** More values than this are aliases that repeat each other. */
const mostValues = 200_000;

/** Characters of a file. Each takes some microseconds to read. */
const longestFile = 1024 * 1024;

/** Each has queues and sessions of its own: as many are divided among several installations. */
const mostConnections = 1_000;

/** Fills in `${NAME}`; undefined when it is no YAML. `file`: absolute path, for the paths in it; `where`: the file as messages show it. Adds to `mistakes`. */
export function yamlSource(
  content: string,
  file: string,
  where: string,
  environment: Environment,
  mistakes: Mistake[],
): Source | undefined {
  const refuse = (message: string): undefined => {
    mistakes.push({ where, path: '', message });
    return undefined;
  };
  if (content.length > longestFile)
    return refuse(`has ${content.length} characters, and may have ${longestFile}`);
  const counter = new LineCounter();
  const document = parseDocument(content, {
    lineCounter: counter,
    prettyErrors: false,
    stringKeys: true,
    // The package compares each key with all before it: minutes for some 10,000. Told below.
    uniqueKeys: false,
    logLevel: 'error',
  });
  const lineAt = (node: Node | null) => counter.linePos(node?.range?.[0] ?? 0).line;
  const faults = [...document.errors, ...document.warnings];
  // One slip often shows as several faults side by side.
  const slips = new Map(
    faults.map(({ code, pos }) => {
      const { line } = counter.linePos(pos[0]);
      return [`${line} ${code}`, { where, line, path: '', message: yamlFault(code) }];
    }),
  );
  mistakes.push(...slips.values());
  // Every further mistake would be a guess.
  if (faults.length > 0) return undefined;

  const connections: unknown = document.get('connections');
  const listed = isAlias(connections) ? connections.resolve(document) : connections;
  // Before they are read: each of so many would be checked, and have its mistakes told.
  if (isMap(listed) && listed.items.length > mostConnections)
    return refuse(
      `has ${listed.items.length} connections, and may have ${mostConnections}; divide them among several installations`,
    );
  const lines = new Map<string, number>();
  const secrets = new Set<string>();
  const doubled = new Set<number>();
  let values = 0;

  const locate = (path: Path) => {
    const place = path.findLastIndex((_, index) => lines.has(showPath(path.slice(0, index + 1))));
    const line = lines.get(showPath(path.slice(0, place + 1)));
    return { where, ...(line !== undefined && { line }), path: showPath(path) };
  };
  const fail = (path: Path, message: string) => {
    mistakes.push({ ...locate(path), message });
    return unreadable;
  };
  const read = (node: unknown, path: Path, above: readonly unknown[]): unknown => {
    values += 1;
    if (values > mostValues) return unreadable;
    if (isAlias(node)) {
      const target = node.resolve(document);
      return target === undefined ? fail(path, yamlFault('BAD_ALIAS')) : read(target, path, above);
    }
    if (above.includes(node))
      return fail(path, 'must not contain itself: an alias names the mapping that it stands in');
    const within = [...above, node];
    if (isSeq<Node>(node))
      return node.items.map((item, index) => {
        lines.set(showPath([...path, index]), lineAt(item));
        return read(item, [...path, index], within);
      });
    if (isMap<Scalar<string>, Node | null>(node)) {
      // Of two equal keys the last is the one in use.
      const pairs = new Map<string, Pair<Scalar<string>, Node | null>>();
      for (const pair of node.items) {
        if (pairs.has(pair.key.value)) doubled.add(lineAt(pair.key));
        pairs.set(pair.key.value, pair);
      }
      return Object.fromEntries([...pairs.values()].map((pair) => readPair(pair, path, within)));
    }
    const value = isScalar(node) ? node.value : null;
    return typeof value === 'string' ? interpolate(value, path) : value;
  };
  const readPair = (
    { key, value }: Pair<Scalar<string>, Node | null>,
    path: Path,
    above: readonly unknown[],
  ) => {
    const at = [...path, key.value];
    const isText = isScalar(value) && value.value !== null;
    lines.set(showPath(at), lineAt(isText ? value : key));
    // zod passes over this name in silence.
    if (key.value === '__proto__') fail(at, 'cannot be a name');
    return [key.value, read(value, at, above)] as const;
  };
  /** Replaces `${NAME}` by the environment's value, once; `$${` is a literal `${`. */
  const interpolate = (text: string, path: Path): unknown => {
    let isReadable = true;
    const filled = text.replaceAll(
      /\$\$\{|\$\{([^}]*)(\}?)/g,
      (match, name: string | undefined, end: string | undefined) => {
        if (name === undefined) return '${';
        const isName = end === '}' && /^[A-Za-z_][A-Za-z0-9_]*$/.test(name);
        const found = isName ? environment.lookup(name) : undefined;
        if (typeof found === 'object') {
          if (found.isSecret) secrets.add(showPath(path));
          return found.value;
        }
        isReadable = false;
        if (found === undefined) fail(path, isName ? unsetVariable(name, environment) : namesAllowed);
        return match;
      },
    );
    return isReadable ? filled : unreadable;
  };

  const raw = read(document.contents, [], []);
  for (const line of doubled) mistakes.push({ where, line, path: '', message: doubledKey });
  if (values > mostValues) return refuse(yamlFault('RESOURCE_EXHAUSTION'));
  return {
    raw: raw ?? {},
    folder: dirname(file),
    locate,
    isSecret: (path) => secrets.has(showPath(path)),
  };
}

const namesAllowed = 'must name a variable as ${NAME}; a literal "${" is written "$${"';

function unsetVariable(name: string, environment: Environment): string {
  const similar = environment.similar(name);
  const meant = similar === undefined ? '' : `; did you mean ${similar}?`;
  return `needs the environment variable ${name}, which is not set or empty${meant}`;
}

const doubledKey = 'not valid YAML: this key is here already: keep one of the two';

/** Our own words for the codes of the yaml package: its messages quote the source, which may hold a secret. */
const sentences: Readonly<Record<string, string>> = {
  BAD_INDENT: 'the indentation does not fit the lines above',
  TAB_AS_INDENT: 'indent with spaces, not with tabs',
  MISSING_CHAR:
    'a character is missing here: a closing quote or bracket, a comma, or the blank after a colon',
  BAD_ALIAS:
    'the alias (*name) has no anchor (&name) above it; put a text that begins with "*" or "&" in quotes',
  BAD_DQ_ESCAPE: 'an unknown escape after a backslash: use single quotes, or two backslashes',
  MULTIPLE_DOCS: 'a second document begins here: one file holds one',
  MULTILINE_IMPLICIT_KEY: 'a key must end with a colon on its own line',
  BLOCK_IN_FLOW: 'inside { } and [ ] everything is separated by commas',
  RESOURCE_EXHAUSTION: 'aliases (*name) repeat too much: write the values out',
};

function yamlFault(code: string): string {
  const usual = `put a text with special characters in quotes, as in "\${NAME}", "!" or "a: b" (${code})`;
  return `not valid YAML: ${sentences[code] ?? usual}`;
}
