import { badField } from './api-fault.ts';
import { Discovery, type Method } from './discovery.ts';

/** A request to one of the API's methods, with its address parsed. */
export interface ApiCall {
  readonly method: Method;
  /** Without the API's name: `spreadsheets.values.batchGet`. */
  readonly name: string;
  readonly path: ReadonlyMap<string, string>;
  readonly query: URLSearchParams;
}

interface Route {
  readonly method: Method;
  readonly pattern: RegExp;
  readonly names: readonly string[];
}

let routes: readonly Route[] | null = null;

/** The method for an address, whatever its query; null: none. */
export function routeOf(httpMethod: string, url: URL): ApiCall | null {
  routes ??= makeRoutes();
  for (const { method, pattern, names } of routes) {
    const match = method.httpMethod === httpMethod ? pattern.exec(url.pathname.slice(1)) : null;
    if (match === null) continue;
    const values = names.map((name, index) => [name, decodeURIComponent(match[index + 1] ?? '')] as const);
    const name = method.id.replace(/^sheets\./, '');
    return { method, name, path: new Map(values), query: url.searchParams };
  }
  return null;
}

function makeRoutes(): Route[] {
  // Longer patterns first: `{range}:append` before `{range}`.
  const methods = Discovery.load().methods.toSorted((one, other) => other.path.length - one.path.length);
  return methods.map((method) => {
    const names: string[] = [];
    const source = method.path.replace(/\{(\w+)\}/g, (_, name: string) => {
      names.push(name);
      return name === 'range' ? '([^/]+)' : '([^/:]+)';
    });
    return { method, pattern: new RegExp(`^${source}$`), names };
  });
}

/** Throws Google's 400 for an unknown query parameter or an invalid value. */
export function checkQuery({ method, query }: ApiCall): void {
  const { commonParameters } = Discovery.load();
  for (const name of new Set(query.keys())) {
    const known = method.parameters[name] ?? commonParameters[name];
    if (known?.location !== 'query') {
      const message = `Invalid JSON payload received. Unknown name "${name}": Cannot bind query parameter.`;
      throw badField('', `${message} Field '${name}' could not be found in request message.`);
    }
    const values = query.getAll(name);
    const field = name.replace(/[A-Z]/g, (one) => `_${one.toLowerCase()}`);
    const wrong = values.find((value) => {
      if (known.type === 'boolean') return value !== 'true' && value !== 'false';
      return known.enum !== undefined && !known.enum.includes(value);
    });
    if (wrong !== undefined) {
      const type = known.type === 'boolean' ? 'TYPE_BOOL' : 'TYPE_ENUM';
      throw badField(field, `Invalid value at '${field}' (${type}), ${JSON.stringify(wrong)}`);
    }
    if (values.length > 1 && known.repeated !== true) {
      throw badField(field, `Invalid value at '${field}': given more than once.`);
    }
  }
}
