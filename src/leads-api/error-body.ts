import { parseJson } from '../parse-json.ts';

export interface ErrorBody {
  readonly code: string | null;
  readonly message: string | null;
}

type Path = readonly (string | number)[];

const codePaths: readonly Path[] = [['code'], ['error', 'code'], ['errors', 0, 'code'], ['error']];
const messagePaths: readonly Path[] = [
  ['message'],
  ['error', 'message'],
  ['errors', 0, 'message'],
  ['detail'],
  ['errors', 0, 'detail'],
];

/** Their shape is open (API reference, section 7): a one-word `error` is a code, any other text a message. Partial JSON is no message: it may hold leads. */
export function readErrorBody(body: string): ErrorBody {
  const text = body.trim();
  const json = parseJson(text);
  if (json === undefined) return { code: null, message: /^(?:$|[<[{])/.test(text) ? null : text };
  const isWord = (found: string) => !/\s/.test(found);
  const message =
    textsAt(json, messagePaths)[0] ?? textsAt(json, [['error']]).find((found) => !isWord(found));
  return { code: textsAt(json, codePaths).find(isWord) ?? null, message: message ?? null };
}

function textsAt(json: unknown, paths: readonly Path[]): readonly string[] {
  const found = paths.map((path) => path.reduce(member, json));
  return found.flatMap((text) => (typeof text === 'string' && text.trim() !== '' ? [text.trim()] : []));
}

function member(value: unknown, key: string | number): unknown {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, key)
    ? Reflect.get(value, key)
    : undefined;
}
