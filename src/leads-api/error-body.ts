/** What an error reply's body says, where it says anything. */
export interface ErrorBody {
  readonly code: string | null;
  readonly message: string | null;
}

const codePaths = [['code'], ['error', 'code'], ['errors', 0, 'code'], ['error']] as const;
const messagePaths = [
  ['message'],
  ['error', 'message'],
  ['errors', 0, 'message'],
  ['detail'],
  ['errors', 0, 'detail'],
  ['error'],
] as const;

/**
 * Finds a code and a message. Their shape is open (API reference, section 7): a one-word `error` is a code, any other
 * text a message. Plain text is the message itself; partial JSON is not, since it may hold leads.
 */
export function readErrorBody(body: string): ErrorBody {
  const text = body.trim();
  const json = parseJson(text);
  if (json === undefined) return { code: null, message: /^(?:$|[<[{])/.test(text) ? null : text };
  return {
    code: firstText(json, codePaths, (found) => !/\s/.test(found)),
    message: firstText(
      json,
      messagePaths,
      (found, path) => path.length > 1 || path[0] !== 'error' || /\s/.test(found),
    ),
  };
}

type Path = readonly (string | number)[];

function firstText(
  json: unknown,
  paths: readonly Path[],
  fits: (text: string, path: Path) => boolean,
): string | null {
  for (const path of paths) {
    const found = path.reduce(member, json);
    if (typeof found === 'string' && found.trim() !== '' && fits(found.trim(), path)) return found.trim();
  }
  return null;
}

function member(value: unknown, key: string | number): unknown {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, key)
    ? Reflect.get(value, key)
    : undefined;
}

/** Undefined: not JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
