import type { sheets_v4 } from '@googleapis/sheets';

const errorTexts = {
  ERROR: '#ERROR!',
  DIVIDE_BY_ZERO: '#DIV/0!',
  VALUE: '#VALUE!',
  REF: '#REF!',
  NAME: '#NAME?',
  NUM: '#NUM!',
  N_A: '#N/A',
} as const;

/** An error value; its text is `#DIV/0!` or the like. */
export class CellError extends Error {
  readonly type: keyof typeof errorTexts;

  constructor(type: keyof typeof errorTexts) {
    super(errorTexts[type]);
    this.name = 'CellError';
    this.type = type;
  }

  get text(): string {
    return this.message;
  }

  get value(): sheets_v4.Schema$ErrorValue {
    return { type: this.type, message: `Formula error: ${this.text}` };
  }
}

/** The error with this text; null: none. */
export function errorNamed(text: string): CellError | null {
  for (const [type, name] of Object.entries(errorTexts))
    if (name === text.toUpperCase() && isErrorType(type)) return new CellError(type);
  return null;
}

function isErrorType(type: string): type is keyof typeof errorTexts {
  return type in errorTexts;
}
