import { Semaphore } from '../../lib/waiting.ts';

/** How long (ms) an unavailable Leads service is left alone. */
export const leadsPauseMs = 60_000;

/** This many consecutive failures of different leads or recipients mean that all would fail. */
const enoughInARow = 3;

/** Leads of a connection that are read at once: so many fail at most before it is known that all would. */
const leadsAtOnce = 4;

/** Refusals further apart (ms) are not consecutive. */
const rowMs = 3_600_000;

interface LeadsService {
  readonly turn: Semaphore;
  readonly failed: Set<string>;
  /** Epoch ms. */
  until: number;
}

/** A general fault should be met by one mail, not by each, and a single one should not block the others. */
export class CircuitBreakers {
  readonly #leads = new Map<string, LeadsService>();
  /** Recipients refused by policy since the last accepted mail, and when (epoch ms). */
  readonly #refused = new Map<string, number>();
  /** Recipients refused by policy while others are accepted. */
  readonly #refusedAlone = new Set<string>();
  /** What stops messages: `server` (all mails), refused senders, and chat channels that are gone. */
  readonly #stopped = new Set<string>();

  /** Few mails read from a connection's service at once: the others know the result before they ask. */
  leadsTurn(connection: string): Promise<Disposable> {
    return this.#service(connection).turn.acquire();
  }

  /** Epoch ms before which a connection's service gets no request. */
  leadsUntil(connection: string): number {
    return this.#service(connection).until;
  }

  /** Pauses the service for `retryAfterMs`, or for a minute when consecutive leads fail; otherwise the fault is the lead's own. `now`: epoch ms. */
  leadFailed(connection: string, leadId: string, now: number, retryAfterMs: number | undefined): void {
    const service = this.#service(connection);
    service.failed.add(leadId);
    const pauseMs = retryAfterMs ?? (service.failed.size < enoughInARow ? 0 : leadsPauseMs);
    service.until = Math.max(service.until, now + pauseMs);
  }

  hasFailed(connection: string, leadId: string): boolean {
    return this.#service(connection).failed.has(leadId);
  }

  leadsAnswered(connection: string): void {
    const service = this.#service(connection);
    service.failed.clear();
    service.until = 0;
  }

  /** `recipient`: others are accepted, so this one fails. `sender`: enough in a row that the server refuses us. `unclear`: try again. `now`: epoch ms. */
  refusedByPolicy(from: string, recipient: string, now: number): 'recipient' | 'sender' | 'unclear' {
    if (this.#refusedAlone.has(recipient)) return 'recipient';
    const isStopped = this.#stopped.has(from);
    for (const [other, at] of this.#refused) if (!isStopped && now - at > rowMs) this.#refused.delete(other);
    this.#refused.set(recipient, now);
    return this.#refused.size < enoughInARow ? 'unclear' : 'sender';
  }

  /** After enough refusals in a row, when this recipient was refused (epoch ms): try others first. */
  refusedAt(recipient: string): number | null {
    return this.#refused.size < enoughInARow ? null : (this.#refused.get(recipient) ?? null);
  }

  /** No mail of a sender (or `server`: any), or no message to a channel, can be sent. True: not reported yet. */
  mailStopped(whose: string): boolean {
    const isNew = !this.#stopped.has(whose);
    this.#stopped.add(whose);
    return isNew;
  }

  /** The server accepted a mail. True: none could be sent before. */
  mailSent(from: string, recipient: string): boolean {
    for (const other of this.#refused.keys()) this.#refusedAlone.add(other);
    this.#refused.clear();
    this.#refusedAlone.delete(recipient);
    const serverWas = this.#stopped.delete('server');
    return this.#stopped.delete(from) || serverWas;
  }

  /** A channel took a message. True: none could be posted before. */
  messagePosted(channel: string): boolean {
    return this.#stopped.delete(channel);
  }

  #service(connection: string): LeadsService {
    const known = this.#leads.get(connection);
    if (known !== undefined) return known;
    const service = { turn: new Semaphore(leadsAtOnce), failed: new Set<string>(), until: 0 };
    this.#leads.set(connection, service);
    return service;
  }
}
