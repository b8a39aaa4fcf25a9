import type { Random } from '../../../src/demo/random.ts';
import type { Sandbox } from '../../../src/demo/sandbox.ts';

/** A lead that nobody edits but for its follow-up, which falls due while the round goes on. */
export interface DueLead {
  readonly id: string;
  /** In every mail about it. */
  readonly token: string;
  /** Moments of its follow-up (epoch ms), the one that counts at the end. */
  readonly dues: number[];
}

/** Follow-ups of one connection that fall due, some of them moved before or after that. */
export class DueLeads {
  readonly all: DueLead[] = [];
  readonly #name: string;
  readonly #sandbox: Sandbox;
  readonly #random: Random;
  readonly #trace: (event: string) => void;

  constructor(name: string, sandbox: Sandbox, random: Random, trace: (event: string) => void) {
    this.#name = name;
    this.#sandbox = sandbox;
    this.#random = random;
    this.#trace = trace;
  }

  /** A new one, or one that is put off by a few seconds. */
  work(): void {
    const due = Date.now() + 3_000 + this.#random.below(15_000);
    const nextFollowUpAt = new Date(due).toISOString();
    const known = this.all[this.#random.below(3 * this.all.length + 1)];
    if (known !== undefined) {
      known.dues.push(due);
      this.#sandbox.leads.edit(known.id, { nextFollowUpAt });
      this.#trace(`${known.token} is due at ${nextFollowUpAt} now`);
      return;
    }
    const token = `r${this.#name}${this.all.length + 1}r`;
    const { id } = this.#sandbox.leads.add({ companyName: `Reminder ${token}`, nextFollowUpAt });
    this.all.push({ id, token, dues: [due] });
    this.#trace(`${token} is a lead (${id}) that is due at ${nextFollowUpAt}`);
  }

  has(id: string): boolean {
    return this.all.some((lead) => lead.id === id);
  }
}
