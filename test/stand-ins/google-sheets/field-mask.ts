import { badField } from './api-fault.ts';

/** The selected names, and the selection in each; null: everything. */
export type FieldMask = ReadonlyMap<string, FieldMask> | null;
type Tree = Map<string, FieldMask>;

/**
 * Reads `sheets(properties(sheetId,title),data.rowData)`: commas between paths, `.` or `/` between the names of a
 * path, brackets for several below one, `*` for all. Throws a 400 for an invalid mask.
 */
export function parseFieldMask(text: string): FieldMask {
  const tokens = text.match(/[\w$-]+|[*(),./]|[^\s\w]/g) ?? [];
  let at = 0;
  const refused = (): Error => {
    const description = `Error expanding 'fields' parameter. Cannot find matching fields for path '${text}'.`;
    return badField(text, description, 'Request contains an invalid argument.');
  };
  const list = (): FieldMask => {
    let whole = false;
    const tree: Tree = new Map();
    do {
      const path = [name()];
      while (tokens[at] === '.' || tokens[at] === '/') {
        at++;
        path.push(name());
      }
      let below: FieldMask = null;
      if (tokens[at] === '(') {
        at++;
        below = list();
        if (tokens[at++] !== ')') throw refused();
      }
      if (path[0] === '*') whole = true;
      else add(tree, path, below);
    } while (tokens[at++] === ',');
    at--;
    return whole ? null : tree;
  };
  const name = (): string => {
    const token = tokens[at++];
    if (token === undefined || !/^(?:[\w$-]+|\*)$/.test(token)) throw refused();
    return token;
  };
  const mask = list();
  if (at !== tokens.length) throw refused();
  return mask;
}

function add(tree: Tree, path: readonly string[], below: FieldMask): void {
  const [first = '*', ...rest] = path;
  const had = tree.get(first);
  if (had === null) return;
  const deepest = rest.length === 0 || rest[0] === '*' ? below : undefined;
  if (deepest === null) {
    tree.set(first, null);
    return;
  }
  const child: Tree = new Map(had ?? []);
  if (deepest === undefined) add(child, rest, below);
  else for (const [name, mask] of deepest) add(child, [name], mask);
  tree.set(first, child);
}

/** Whether anything at or below the path is selected. */
export function selects(mask: FieldMask, ...path: readonly string[]): boolean {
  let at = mask;
  for (const name of path) {
    if (at === null) return true;
    const below = at.get(name);
    if (below === undefined) return false;
    at = below;
  }
  return true;
}

/** The selected parts of a value. Objects of a list stay, even when empty. */
export function prune(value: unknown, mask: FieldMask): unknown {
  if (mask === null || typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((item) => prune(item, mask));
  const kept: Record<string, unknown> = {};
  for (const [name, field] of Object.entries(value)) {
    const below = mask.get(name);
    if (below !== undefined) kept[name] = prune(field, below);
  }
  return kept;
}

/**
 * The old object with the selected parts of the new one; parts that the new one lacks are removed. `*` (null): the new one.
 */
export function applyMask(old: unknown, next: unknown, mask: FieldMask): Record<string, unknown> {
  if (mask === null) return { ...asRecord(next) };
  const result = { ...asRecord(old) };
  const source = asRecord(next);
  for (const [name, below] of mask) {
    const value = below === null ? source[name] : applyMask(result[name], source[name], below);
    const gone = value === undefined || value === null || (below !== null && isEmptyObject(value));
    if (gone) delete result[name];
    else result[name] = value;
  }
  return result;
}

function asRecord(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? Object.fromEntries(Object.entries(value)) : {};
}

function isEmptyObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null && Object.keys(value).length === 0;
}
