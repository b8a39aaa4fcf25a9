/** A number for people: `5,000`. */
export function count(value: number): string {
  // The first use of a locale loads them all, which a command with small numbers can do without.
  return Number.isInteger(value) && Math.abs(value) < 1_000 ? String(value) : value.toLocaleString('en');
}

/** `1 lead`, `5,000 leads`. */
export function counted(value: number, one: string, several = `${one}s`): string {
  return `${count(value)} ${value === 1 ? one : several}`;
}
