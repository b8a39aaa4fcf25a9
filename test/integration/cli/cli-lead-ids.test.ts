import { expect, test } from 'vitest';
import { Workspace } from '../../support/workspace.ts';

const reminders = { from: 'sales@example.com', to: ['anna@example.com'] };

test.each(['018c2f3a-0000-7000-8000-00000000000a', '018C2F3A-0000-7000-8000-00000000000A'])(
  'why and status --reminders find the lead %s in any spelling, whole or by its beginning',
  async (id) => {
    await using workspace = await Workspace.open({ connection: { reminders } });
    const nextFollowUpAt = new Date(Date.now() + 3_600_000).toISOString();
    workspace.sandbox.leads.add({ id, companyName: 'Acme', nextFollowUpAt });
    workspace.sandbox.leads.add({ id: '018c2f3b-0000-7000-8000-00000000000b', companyName: 'Bolt' });
    await workspace.sync();
    const spellings = [
      id.toLowerCase(),
      id.toUpperCase(),
      `{${id.toUpperCase()}}`,
      `urn:uuid:${id.toLowerCase()}`,
      `{${id.slice(0, 12).toUpperCase()}`,
      id.slice(0, 12).toLowerCase(),
    ];
    for (const typed of spellings) {
      const why = await workspace.cli('why', typed, '--json');
      expect([why.code, why.json<{ leadId: string }>().leadId], typed).toEqual([0, id]);
    }
    const preview = await workspace.cli('status', '--reminders', `{${id.toUpperCase()}}`, '--json');
    expect([preview.code, preview.json<{ leadId: string }>().leadId]).toEqual([0, id]);
  },
);
