/** Long work that may be paused wherever it yields. */
export type Steps<T> = Generator<void, T, void>;

/** Runs it to the end. */
export function atOnce<T>(steps: Steps<T>): T {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}
