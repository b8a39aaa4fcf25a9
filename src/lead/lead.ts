/** A lead as the service sent it: its id and every field of the JSON object, known or not (API reference, section 2). */
export interface Lead {
  readonly id: string;
  readonly fields: Readonly<Record<string, unknown>>;
}
