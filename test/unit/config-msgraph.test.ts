import { expect, test } from 'vitest';
import { loadConfig } from '../../src/config/load.ts';
import { targetName } from '../../src/config/config.ts';

const load = (env: NodeJS.ProcessEnv) =>
  loadConfig({ cwd: '/', env: { LEADS_BASE_URL: 'https://x.example.com', LEADS_API_KEY: 'k', ...env } });

const link = 'https://contoso.sharepoint.com/:x:/s/sales/EaBcDeFg?e=1';

test('a file in a drive, and a sharing link, are workbooks in Microsoft 365', async () => {
  const clientId = '89ea5c94-7736-4e25-95ad-3fa95f62b66e';
  const app = { MSGRAPH_TENANT: 'contoso.com', MSGRAPH_CLIENT_ID: clientId, MSGRAPH_CLIENT_SECRET: 'geheim' };
  const config = await load({ ...app, TARGET: 'msgraph:b!x//Sales/leads.xlsx' });
  const [inDrive] = config.connections;
  expect(inDrive?.target).toMatchObject({ type: 'workbook', drive: 'b!x', path: 'Sales/leads.xlsx' });
  expect(inDrive && targetName(inDrive.target)).toBe('msgraph:b!x/Sales/leads.xlsx');
  expect(config.msgraph).toMatchObject({ tenant: 'contoso.com', clientId });
  expect(JSON.stringify(config)).not.toContain('geheim');
  const [linked] = (await load({ TARGET: link })).connections;
  expect(linked?.target).toMatchObject({ type: 'workbook', path: link });
  expect(linked?.target).not.toHaveProperty('drive');
});

test.each([
  [{ TARGET: 'https://1drv.ms/x/s!AbC' }, 'the OneDrive of a private person'],
  [{ TARGET: 'https://onedrive.live.com/edit.aspx?resid=1' }, 'the OneDrive of a private person'],
  [{ TARGET: 'msgraph:b!x/a/../leads.xlsx' }, 'must be a path within the drive'],
  [{ TARGET: 'msgraph:Sales leads/leads.xlsx' }, 'must be msgraph:DRIVE/PATH'],
  [{ TARGET: 'msgraph:b!x/leads' }, 'must end with the name of a file'],
  [{ TARGET: 'leads.xlsx', MSGRAPH_DRIVE: 'b!x' }, 'begin TARGET with it: msgraph:DRIVE/PATH'],
  [{ TARGET: 'leads.xlsx', MSGRAPH_TENANT: 'common' }, 'must be the Directory (tenant) ID'],
  [{ TARGET: 'leads.xlsx', MSGRAPH_CLIENT_ID: 'leadsync' }, 'must be the Application (client) ID'],
  [{ TARGET: 'leads.xlsx', MSGRAPH_CLIENT_SECRET: 'two words' }, 'or a private key and its certificate'],
])('a mistake is named: %j', async (env, message) => {
  await expect(load(env)).rejects.toThrow(message);
});
