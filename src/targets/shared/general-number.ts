export function generalNumber(number: number): string {
  const text = String(Number(number.toPrecision(15)));
  return text.replace(
    /e([+-])(\d+)$/,
    (_, sign: string, digits: string) => `E${sign}${digits.padStart(2, '0')}`,
  );
}

/** Whether a text is what a spreadsheet shows for that number. */
export const isGeneralNumber = (text: string): boolean =>
  /^-?\d/.test(text) && generalNumber(Number(text)) === text;
