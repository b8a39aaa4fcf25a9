/** A character as JSON, a URL or HTML may write it, however often it was escaped. */
const escaped =
  /\\+(?:u[\da-f]{4}|[^])?|(?:%(?:25)*[\da-f]{2})+|&(?:#\d{1,7}|#x[\da-f]{1,6}|amp|quot|apos|lt|gt);/gi;

const named: Readonly<Record<string, string>> = { amp: '&', quot: '"', apos: "'", lt: '<', gt: '>' };

/** HTML in JSON in JSON. */
const deepest = 3;

const mark = '[secret]';

/** Bytes before a secret in base64, of which the characters of its own part depend: each of them another text. */
const shifts = [0, 1, 2];

/** Characters of base64; fewer stand in many a text by chance. */
const leastBase64 = 4;

/** Removes secrets from texts in every form in which somebody may repeat them: as they are, escaped, URL-encoded, in base64. */
export class Redactor {
  readonly #needles: readonly string[];
  readonly #shortest: number;

  constructor(secrets: readonly string[]) {
    const known = secrets.filter((secret) => secret !== '');
    const coded = known.flatMap(inBase64).filter((text) => text.length >= leastBase64);
    // The longest first: what is left of it must not be found in a part.
    this.#needles = [...new Set([...known, ...coded].map(plainly))].toSorted((a, b) => b.length - a.length);
    this.#shortest = this.#needles.at(-1)?.length ?? Infinity;
  }

  text(text: string): string {
    if (text.length < this.#shortest) return text;
    const plain = plainly(text);
    if (!this.#needles.some((needle) => plain.includes(needle))) return text;
    return this.#without(text);
  }

  /** Parsed JSON, with its texts replaced in place, however deep: a tab has a million cells. */
  json(value: unknown): unknown {
    const whole = { value };
    const open: object[] = [whole];
    for (let one = open.pop(); one !== undefined; one = open.pop())
      for (const [name, item] of Object.entries(one) as [string, unknown][]) {
        if (typeof item === 'object' && item !== null) open.push(item);
        if (typeof item !== 'string') continue;
        const clean = this.text(item);
        if (clean !== item) Reflect.set(one, name, clean);
      }
    return whole.value;
  }

  #without(text: string): string {
    const { plain, starts } = withPlaces(text);
    let clean = '';
    let done = 0;
    for (let at = 0; at < plain.length; ) {
      const needle = this.#needles.find((one) => plain.startsWith(one, at));
      if (needle === undefined) {
        at += 1;
        continue;
      }
      // A run of escapes is one place: it goes as a whole.
      const from = Math.max(done, starts[at] ?? 0);
      let end = at + needle.length;
      while (end < plain.length && starts[end] === starts[end - 1]) end += 1;
      clean += text.slice(done, from) + mark;
      done = starts[end] ?? text.length;
      at = end;
    }
    return clean + text.slice(done);
  }
}

/** Without escapes, and with base64's own alphabet as that of URLs. */
function plainly(text: string): string {
  let plain = text;
  for (let level = 0, before = ''; level < deepest && before !== plain; level++) {
    before = plain;
    plain = plain.replace(escaped, unescaped);
  }
  return plain.replaceAll('+', '-').replaceAll('/', '_');
}

interface Placed {
  readonly plain: string;
  /** Where in the text each of its characters begins, and where the last one ends. */
  readonly starts: readonly number[];
}

/** As `plainly`, with places. */
function withPlaces(text: string): Placed {
  let found: Placed = { plain: text, starts: Array.from({ length: text.length + 1 }, (_, index) => index) };
  for (let level = 0; level < deepest; level++) {
    const { plain, starts } = unescapedOnce(found.plain);
    found = { plain, starts: starts.map((at) => found.starts[at] ?? text.length) };
  }
  return { ...found, plain: found.plain.replaceAll('+', '-').replaceAll('/', '_') };
}

function unescapedOnce(text: string): Placed {
  const starts: number[] = [];
  let plain = '';
  let from = 0;
  const add = (part: string, place: (index: number) => number): void => {
    for (let index = 0; index < part.length; index++) starts.push(place(index));
    plain += part;
  };
  for (const { 0: found, index: at } of text.matchAll(escaped)) {
    const start = from;
    add(text.slice(start, at), (index) => start + index);
    add(unescaped(found), () => at);
    from = at + found.length;
  }
  const last = from;
  add(text.slice(last), (index) => last + index);
  starts.push(text.length);
  return { plain, starts };
}

function unescaped(found: string): string {
  if (found.startsWith('%')) return decoded(found.replaceAll(/%(?:25)+(?=[\da-f]{2})/gi, '%'));
  if (found.startsWith('&')) {
    const name = found.slice(1, -1).toLowerCase();
    return named[name] ?? character(name.startsWith('#x') ? `0x${name.slice(2)}` : name.slice(1));
  }
  const after = found.replace(/^\\+/, '');
  return after.length > 1 ? character(`0x${after.slice(1)}`) : after;
}

function character(code: string): string {
  const point = Number(code);
  return point <= 0x10_ff_ff ? String.fromCodePoint(point) : '';
}

function decoded(percents: string): string {
  try {
    return decodeURIComponent(percents);
  } catch {
    return Buffer.from(percents.replaceAll('%', ''), 'hex').toString('latin1');
  }
}

/** What a text that holds the secret has in base64 for certain, whatever stands before and after it. */
function inBase64(secret: string): readonly string[] {
  const bytes = Buffer.from(secret);
  return shifts.map((shift) => {
    const coded = Buffer.concat([Buffer.alloc(shift), bytes]).toString('base64url');
    return coded.slice(Math.ceil((shift * 8) / 6), Math.floor(((shift + bytes.length) * 8) / 6));
  });
}
