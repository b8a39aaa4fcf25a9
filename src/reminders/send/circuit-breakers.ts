import { Semaphore } from '../../semaphore.ts';

/** How long (ms) a Leads service that cannot be asked is left alone. */
export const leadsPauseMs = 60_000;

/** So many leads, or recipients, in a row that met a fault, without one that did not, mean that all would. */
const enoughInARow = 3;

/** Refusals that lie further apart (ms) are not in a row. */
const rowMs = 3_600_000;

/** What is known of the Leads service of a connection. */
interface LeadsService {
  readonly turn: Semaphore;
  /** Leads that could not be read since one was. */
  readonly failed: Set<string>;
  /** Epoch ms. */
  until: number;
}

/**
 * What one process has learnt of the services that mails depend on, so that a fault that concerns all mails is met by
 * one of them and not by each, and a fault of one alone holds back no other.
 */
export class CircuitBreakers {
  readonly #leads = new Map<string, LeadsService>();
  /** Recipients whom the mail server has refused by policy since it took a mail the last time, and when (epoch ms). */
  readonly #refused = new Map<string, number>();
  /** Recipients whom it refused by policy though it takes mails for others. */
  readonly #refusedAlone = new Set<string>();
  /** Why no mail can be sent: `server`, or a sender that is refused. */
  readonly #stopped = new Set<string>();

  /** For one mail at a time to ask the service of a connection, so that each knows what the one before has met. */
  leadsTurn(connection: string): Promise<Disposable> {
    return this.#service(connection).turn.acquire();
  }

  /** Epoch ms before which the service of a connection is not asked again. */
  leadsUntil(connection: string): number {
    return this.#leads.get(connection)?.until ?? 0;
  }

  /**
   * A lead could not be read at `now` (epoch ms). The service is left alone for as long as it wants (`retryAfterMs`), or
   * for a minute when one lead after the other cannot be read: otherwise it is the fault of that lead.
   */
  leadFailed(connection: string, leadId: string, now: number, retryAfterMs: number | undefined): void {
    const service = this.#service(connection);
    service.failed.add(leadId);
    const pauseMs = retryAfterMs ?? (service.failed.size < enoughInARow ? 0 : leadsPauseMs);
    service.until = Math.max(service.until, now + pauseMs);
  }

  /** Whether a lead is one of those that could not be read, so that another one is to find out whether any can. */
  hasFailed(connection: string, leadId: string): boolean {
    return this.#leads.get(connection)?.failed.has(leadId) ?? false;
  }

  leadsAnswered(connection: string): void {
    const service = this.#service(connection);
    service.failed.clear();
    service.until = 0;
  }

  /**
   * The mail server refused a recipient by policy at `now` (epoch ms). `his`: it takes mails for others, so this one is
   * failed. `ours`: it has refused so many in a row that it serves us not at all. `unclear`: to be tried again.
   */
  refusedByPolicy(from: string, recipient: string, now: number): 'his' | 'ours' | 'unclear' {
    if (this.#refusedAlone.has(recipient)) return 'his';
    const isStopped = this.#stopped.has(from);
    for (const [other, at] of this.#refused) if (!isStopped && now - at > rowMs) this.#refused.delete(other);
    this.#refused.set(recipient, now);
    return this.#refused.size < enoughInARow ? 'unclear' : 'ours';
  }

  /** When so many in a row were refused, the moment (epoch ms) at which this one was: others are to be tried before. */
  refusedAt(recipient: string): number | null {
    return this.#refused.size < enoughInARow ? null : (this.#refused.get(recipient) ?? null);
  }

  /** No mail of a sender (or of anybody: `server`) can be sent. True: nobody has been told so far. */
  mailStopped(whose: string): boolean {
    const isNew = !this.#stopped.has(whose);
    this.#stopped.add(whose);
    return isNew;
  }

  /** The mail server took a mail. True: none could be sent before. */
  mailSent(from: string, recipient: string): boolean {
    for (const other of this.#refused.keys()) this.#refusedAlone.add(other);
    this.#refused.clear();
    this.#refusedAlone.delete(recipient);
    const serverWas = this.#stopped.delete('server');
    return this.#stopped.delete(from) || serverWas;
  }

  #service(connection: string): LeadsService {
    const known = this.#leads.get(connection);
    if (known !== undefined) return known;
    const service = { turn: new Semaphore(1), failed: new Set<string>(), until: 0 };
    this.#leads.set(connection, service);
    return service;
  }
}
