/** Work that may take long; it can be left alone for a while wherever it yields. */
export type Steps<T> = Generator<void, T, void>;

/** Does all of it now. */
export function atOnce<T>(steps: Steps<T>): T {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}
