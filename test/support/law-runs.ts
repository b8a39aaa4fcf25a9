/**
 * How many random cases a law is tried with: `normal`, unless LAW_RUNS asks for fewer, as the mutation tests do, which
 * run everything once for each mutant.
 */
export function lawRuns(normal: number): number {
  return Math.min(normal, Number(process.env['LAW_RUNS'] ?? normal));
}
