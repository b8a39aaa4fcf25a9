/** What is wrong with the name of a table, or null: `table` or `schema.table`, each as long as PostgreSQL allows. */
export function tableNameMistake(name: string): string | null {
  const parts = name.split('.');
  const isRight = parts.every(
    (part) => part.trim() !== '' && !part.includes('\0') && Buffer.byteLength(part) <= 63,
  );
  return isRight && parts.length <= 2 ? null : 'must be the name of a table: TABLE or SCHEMA.TABLE';
}
