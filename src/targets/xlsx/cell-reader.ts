import { generalNumber } from '../shared/general-number.ts';
import { fieldKinds } from '../../core/lead/field-kinds.ts';
import type { Cell, FieldType } from '../../core/lead/value.ts';
import type { SheetCell } from './rows.ts';
import type { SerialClock } from '../shared/serial-clock.ts';
import type { SharedStrings } from './strings.ts';
import type { DateStyles } from './styles.ts';
import { unescapeCellText, xmlText } from './xml-text.ts';

export type CellReader = ReturnType<typeof cellReader>;

/** Functions throw XmlFault for content that no program writes. */
export function cellReader(strings: SharedStrings, dates: DateStyles, clock: SerialClock) {
  /** The cell of a mapped column. Formulas and errors are unreadable: nothing is written over them. */
  function readCell(cell: SheetCell | undefined, type: FieldType): Cell {
    if (cell === undefined) return null;
    const { isMoment, read } = fieldKinds[type];
    if (isMoment && cell.type === 'n' && cell.formula === null && isDate(cell)) {
      const instant = cell.raw === '' ? null : clock.toInstant(Number(cell.raw));
      if (instant !== null) return instant;
    }
    const text = textOf(cell);
    if (cell.formula !== null) return { unreadable: showFormula(cell.formula, text), why: 'formula' };
    if (text === '') return null;
    if (cell.type === 'e') return { unreadable: text, why: 'error' };
    if (!isMoment) return read(text, clock.timeZone);
    if (cell.type === 'n' && isDate(cell) && clock.isSkipped(Number(cell.raw)))
      return { unreadable: text, why: 'skipped' };
    // A boolean, or a number that is no date: a guess could lose an edit.
    if (cell.type === 'n' || cell.type === 'b') return { unreadable: text };
    return read(text, clock.timeZone);
  }

  /** An id, which may come from a formula; or an error or a formula without a value, which must not be overwritten. */
  function readId(cell: SheetCell | undefined): { readonly id: string } | { readonly unreadable: string } {
    const text = textOf(cell).trim();
    if (cell === undefined || (cell.type !== 'e' && (cell.formula === null || text !== '')))
      return { id: text };
    return { unreadable: cell.formula === null ? text : showFormula(cell.formula, text) };
  }

  function textOf(cell: SheetCell | undefined): string {
    if (cell === undefined) return '';
    switch (cell.type) {
      case 's':
        return cell.raw === '' ? '' : strings.get(Number(cell.raw));
      case 'n':
        return numberText(cell);
      case 'b':
        return cell.raw === '' ? '' : /^\s*(1|true)\s*$/.test(cell.raw) ? 'TRUE' : 'FALSE';
      default:
        return unescapeCellText(xmlText(cell.raw));
    }
  }

  function numberText(cell: SheetCell): string {
    const raw = cell.raw.trim();
    const number = Number(raw);
    if (raw === '' || !Number.isFinite(number)) return xmlText(raw);
    return (isDate(cell) ? clock.toLocalText(number) : null) ?? generalNumber(number);
  }

  function isDate(cell: SheetCell): boolean {
    return dates.has(cell.style ?? 0);
  }

  return { cell: readCell, id: readId, text: textOf };
}

function showFormula(formula: string, value: string): string {
  const text = xmlText(formula);
  return `formula${text === '' ? '' : ` =${text}`}${value === '' ? '' : ` (shows ${value})`}`;
}
