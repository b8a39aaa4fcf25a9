export function generalNumber(number: number): string {
  const text = String(Number(number.toPrecision(15)));
  return text.replace(
    /e([+-])(\d+)$/,
    (_, sign: string, digits: string) => `E${sign}${digits.padStart(2, '0')}`,
  );
}
