import { areaOf, findSheet } from './a1-range.ts';
import { CellError } from './cell-error.ts';
import { cellAt, type Cell, type Sheet, type Spreadsheet } from './sheet-state.ts';

/** The computed value of a cell. */
export type Effective = string | number | boolean | null | CellError;

/**
 * Computes the formulas of one state: literals, references to single cells, + - * / ^ & %, comparisons, brackets and
 * NA(). Anything else shows `#NAME?`, an invalid formula `#ERROR!`. Valid until the state changes.
 */
export class Formulas {
  readonly #state: Spreadsheet;
  readonly #known = new Map<Cell, Effective>();
  readonly #open = new Set<Cell>();

  constructor(state: Spreadsheet) {
    this.#state = state;
  }

  /** The effective value of a cell in this sheet. */
  valueOf(cell: Cell, sheet: Sheet): Effective {
    const { entered } = cell;
    if (typeof entered !== 'object' || entered === null || entered instanceof CellError) return entered;
    const known = this.#known.get(cell);
    if (known !== undefined) return known;
    if (this.#open.has(cell)) return new CellError('REF');
    this.#open.add(cell);
    const value = this.#evaluate(entered.formula, sheet);
    this.#open.delete(cell);
    this.#known.set(cell, value);
    return value;
  }

  #evaluate(formula: string, sheet: Sheet): Effective {
    try {
      return new Parser(formula.slice(1), (title, cell) => this.#cell(title, cell, sheet)).read();
    } catch (error) {
      if (error instanceof CellError) return error;
      throw error;
    }
  }

  #cell(title: string | null, a1: string, from: Sheet): Effective {
    const sheet = title === null ? from : findSheet(this.#state, title);
    if (sheet === undefined) return new CellError('REF');
    const area = areaOf(sheet, a1);
    if (area.startRow >= sheet.rows.length || area.startColumn >= sheet.columns.length) {
      return new CellError('REF');
    }
    return this.valueOf(cellAt(sheet, area.startRow, area.startColumn), sheet);
  }
}

const token =
  /\s*(?:(\d+\.?\d*(?:[eE][+-]?\d+)?|\.\d+)|"((?:[^"]|"")*)"|((?:'(?:[^']|'')*'|[A-Za-z_]\w*)!)?(\$?[A-Za-z]{1,3}\$?[1-9]\d*)(?![\w(])|([A-Za-z_][\w.]*)|(#REF!)|(<>|<=|>=|[-+*/^&%()=<>,:;]))/y;

const levels: readonly (readonly string[])[] = [
  ['=', '<>', '<', '>', '<=', '>='],
  ['&'],
  ['+', '-'],
  ['*', '/'],
  ['^'],
];

type Token =
  | { readonly kind: 'value'; readonly value: Effective }
  | { readonly kind: 'sign' | 'name'; readonly text: string };

/** Parses and computes in one pass. Throws CellError. */
class Parser {
  readonly #tokens: Token[] = [];
  #at = 0;

  constructor(text: string, cell: (title: string | null, a1: string) => Effective) {
    token.lastIndex = 0;
    while (token.lastIndex < text.trimEnd().length) {
      const match = token.exec(text);
      if (match === null) throw new CellError('ERROR');
      const [, number, quoted, sheet, a1, name, lost, sign] = match;
      if (number !== undefined) this.#tokens.push({ kind: 'value', value: Number(number) });
      else if (quoted !== undefined)
        this.#tokens.push({ kind: 'value', value: quoted.replaceAll('""', '"') });
      else if (a1 !== undefined) {
        const title =
          sheet
            ?.slice(0, -1)
            .replace(/^'(.*)'$/s, '$1')
            .replaceAll("''", "'") ?? null;
        const at = token.lastIndex;
        this.#tokens.push({ kind: 'value', value: cell(title, a1.replaceAll('$', '')) });
        token.lastIndex = at;
      } else if (lost !== undefined) this.#tokens.push({ kind: 'value', value: new CellError('REF') });
      else if (name !== undefined) this.#tokens.push({ kind: 'name', text: name.toUpperCase() });
      else this.#tokens.push({ kind: 'sign', text: sign ?? '' });
    }
  }

  read(): Effective {
    const value = this.#binary(0);
    if (this.#at < this.#tokens.length) throw new CellError('ERROR');
    return value;
  }

  #binary(level: number): Effective {
    const signs = levels[level];
    if (signs === undefined) return this.#unary();
    let left = this.#binary(level + 1);
    for (let sign = this.#sign(signs); sign !== null; sign = this.#sign(signs)) {
      left = combine(sign, left, this.#binary(level + 1));
    }
    return left;
  }

  #unary(): Effective {
    const sign = this.#sign(['-', '+']);
    if (sign === '-') return -asNumber(this.#unary());
    if (sign === '+') return this.#unary();
    let value = this.#primary();
    while (this.#sign(['%']) !== null) value = asNumber(value) / 100;
    return value;
  }

  #primary(): Effective {
    const next = this.#tokens[this.#at++];
    if (next === undefined) throw new CellError('ERROR');
    if (next.kind === 'value') return next.value;
    if (next.kind === 'name') {
      if (next.text === 'TRUE' || next.text === 'FALSE') return next.text === 'TRUE';
      throw new CellError(next.text === 'NA' ? 'N_A' : 'NAME');
    }
    if (next.text !== '(') throw new CellError('ERROR');
    const value = this.#binary(0);
    if (this.#sign([')']) === null) throw new CellError('ERROR');
    return value;
  }

  #sign(among: readonly string[]): string | null {
    const next = this.#tokens[this.#at];
    if (next?.kind !== 'sign' || !among.includes(next.text)) return null;
    this.#at++;
    return next.text;
  }
}

function combine(sign: string, left: Effective, right: Effective): Effective {
  if (sign === '&') return asText(left) + asText(right);
  if (levels[0]?.includes(sign)) return compare(sign, left, right);
  const [a, b] = [asNumber(left), asNumber(right)];
  if (sign === '+') return a + b;
  if (sign === '-') return a - b;
  if (sign === '*') return a * b;
  if (sign === '^') return a ** b;
  if (b === 0) throw new CellError('DIVIDE_BY_ZERO');
  return a / b;
}

function compare(sign: string, left: Effective, right: Effective): boolean {
  const numbers = typeof left === 'number' && typeof right === 'number';
  const [a, b] = numbers ? [left, right] : [asText(left).toLowerCase(), asText(right).toLowerCase()];
  if (sign === '=') return a === b;
  if (sign === '<>') return a !== b;
  if (sign === '<') return a < b;
  if (sign === '>') return a > b;
  return sign === '<=' ? a <= b : a >= b;
}

function asNumber(value: Effective): number {
  if (value instanceof CellError) throw value;
  if (value === null) return 0;
  const number = typeof value === 'string' && value.trim() === '' ? Number.NaN : Number(value);
  if (Number.isNaN(number)) throw new CellError('VALUE');
  return number;
}

function asText(value: Effective): string {
  if (value instanceof CellError) throw value;
  if (typeof value === 'boolean') return value ? 'TRUE' : 'FALSE';
  return value === null ? '' : String(value);
}
