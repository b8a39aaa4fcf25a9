import { html } from 'hono/html';
import type { ConnectionStatus } from '../connection-status.ts';
import type { Html } from './layout.ts';

/** What a person may have done with a connection, as the end of the address to which the button is sent. */
export const orders = ['sync', 'pause', 'resume', 'lift-wait'] as const;
export type Order = (typeof orders)[number];

const labels: Readonly<Record<Order, string>> = {
  sync: 'Sync now',
  pause: 'Pause',
  resume: 'Resume',
  'lift-wait': 'End the wait',
};

/** The buttons of a connection: those that are of use as it stands. `isAsked`: a sync was asked for that has not begun. */
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
