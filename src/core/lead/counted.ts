/** A number for people: `5,000`. */
export function count(value: number): string {
  return value.toLocaleString('en');
}

/** `1 lead`, `5,000 leads`. */
export function counted(value: number, one: string, several = `${one}s`): string {
  return `${count(value)} ${value === 1 ? one : several}`;
}
