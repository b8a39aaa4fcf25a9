import type { CellRange } from '../shared/table-range.ts';
import { attribute, attributePlace } from './xml.ts';

/** Limits of the format. */
export const mostRows = 1_048_576;
export const mostColumns = 16_384;
export const longestCellText = 32_767;

/** A range, and the position of its text in the part. */
export interface PlacedRange {
  readonly range: CellRange;
  readonly start: number;
  readonly end: number;
}

/** 0 for `A`. Capital letters only. */
export function columnIndex(letters: string): number {
  let index = 0;
  for (let at = 0; at < letters.length; at++) index = index * 26 + letters.charCodeAt(at) - 64;
  return index - 1;
}

/** `A1:F20`, or one cell; null for anything else. */
export function readRange(text: string): CellRange | null {
  const match = /^\$?([A-Z]{1,3})\$?(\d{1,7})(?::\$?([A-Z]{1,3})\$?(\d{1,7}))?$/.exec(text.trim());
  if (match === null) return null;
  const [, left = '', top = '', right = left, bottom = top] = match;
  return { left: columnIndex(left), top: Number(top), right: columnIndex(right), bottom: Number(bottom) };
}

/** The range in an element's `ref`; null: none. */
export function placedRange(element: {
  readonly attributes: string;
  readonly attributesStart: number;
}): PlacedRange | null {
  const range = readRange(attribute(element.attributes, 'ref') ?? '');
  const place = attributePlace(element, 'ref');
  return range && place && { range, ...place };
}
