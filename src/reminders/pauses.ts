import type { LeadsyncError } from '../errors.ts';

/** How long (ms) a Leads service that cannot be asked is left alone. */
export const leadsPauseMs = 60_000;

/**
 * What one process has learnt of the services that mails depend on, so that a fault that concerns all mails is met by
 * one of them and not by each.
 */
export class Pauses {
  readonly #leads = new Map<string, number>();
  readonly #refusedFor = new Set<string>();
  #mailStopped = false;

  /** Epoch ms before which the service of a connection is not asked again. */
  leadsUntil(connection: string): number {
    return this.#leads.get(connection) ?? 0;
  }

  /** The service of a connection could not be asked, or does not want to be, before `until` (epoch ms). */
  leadsFailed(connection: string, until: number): void {
    this.#leads.set(connection, until);
  }

  leadsAnswered(connection: string): void {
    this.#leads.delete(connection);
  }

  /**
   * Whether a fault of the mail server concerns every mail: wrong credentials, or a sender that it has refused for two
   * recipients since it took a mail the last time. `first`: nobody has been told so far.
   */
  stopsAllMail({ code }: LeadsyncError, recipient: string): 'no' | 'first' | 'known' {
    if (code === 'mail.sender-refused') this.#refusedFor.add(recipient);
    else if (code !== 'mail.credentials') return 'no';
    if (code === 'mail.sender-refused' && this.#refusedFor.size < 2) return 'no';
    const first = !this.#mailStopped;
    this.#mailStopped = true;
    return first ? 'first' : 'known';
  }

  /** The mail server took a mail. True: none could be sent before. */
  mailSent(): boolean {
    const stopped = this.#mailStopped;
    this.#mailStopped = false;
    this.#refusedFor.clear();
    return stopped;
  }
}
