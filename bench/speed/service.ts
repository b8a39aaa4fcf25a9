import { startSandbox } from '../../src/demo/sandbox.ts';

/**
 * The service in a process of its own: `node service.ts LEADS`. Tells its address, then does what its parent says:
 * changes a lead of every hundred, or answers each page so many ms later. A page has 100 leads, whatever is asked for.
 */
export type Order = { readonly edit: string } | { readonly latencyMs: number } | { readonly tell: 'stats' };

const [leads] = process.argv.slice(2).map(Number);
const sandbox = await startSandbox({ leads: leads ?? 0, maxLimit: 100 });
process.on('message', (order: Order) => {
  if ('edit' in order) {
    const all = sandbox.leads.list();
    for (let index = 0; index < all.length; index += 100) {
      sandbox.leads.edit(all[index]?.id ?? '', { city: `${order.edit} ${index}` });
    }
  }
  if ('latencyMs' in order) {
    const { latencyMs: ms } = order;
    sandbox.set({ faults: ms === 0 ? [] : [{ kind: 'slow', ms, when: { every: 1 }, on: [] }] });
  }
  process.send?.({ requests: sandbox.stats.requests, byRoute: sandbox.stats.byRoute });
});
process.on('disconnect', () => process.exit());
process.send?.({ url: sandbox.url, apiKey: sandbox.apiKey });
