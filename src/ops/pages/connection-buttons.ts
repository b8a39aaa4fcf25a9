import { html } from 'hono/html';
import type { ConnectionStatus } from '../connection-status.ts';
import type { Html } from './layout.ts';

/** The orders of a person for a connection; each is the end of the address of its form. */
export const orders = ['sync', 'pause', 'resume', 'lift-wait'] as const;
export type Order = (typeof orders)[number];

const labels: Readonly<Record<Order, string>> = {
  sync: 'Sync now',
  pause: 'Pause',
  resume: 'Resume',
  'lift-wait': 'End the wait',
};

/** The buttons that a connection offers in its state. `isAsked`: a sync waits in the queue. */
export function connectionButtons(
  { connection, pausedSince, throttledUntil, running }: ConnectionStatus,
  isAsked = false,
): Html {
  const isPaused = pausedSince !== null;
  const isSyncing = isAsked || (running !== null && running.holder !== null);
  const offered: readonly Order[] = [
    ...(isPaused || isSyncing ? [] : ['sync' as const]),
    isPaused ? 'resume' : 'pause',
    ...(throttledUntil === null ? [] : ['lift-wait' as const]),
  ];
  return html`<div class="actions">
${offered.map((order) => html`<form method="post" action="/connections/${connection}/${order}"><button${order === 'sync' || order === 'resume' ? '' : html` class="quiet"`}>${labels[order]}<span class="hidden"> ${connection}</span></button></form>\n`)}</div>`;
}
