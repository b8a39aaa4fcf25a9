import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { sampleApp, sampleDrive, startMsGraphSandbox } from '../../stand-ins/msgraph/msgraph-sandbox.ts';

test('verify:msgraph finds its assumptions to hold on the stand-in, and leaves nothing there', async () => {
  await using graph = await startMsGraphSandbox();
  const { stdout } = await promisify(execFile)(process.execPath, ['verify/msgraph.ts'], {
    env: {
      TARGET_API_URL: graph.loginUrl,
      MSGRAPH_TENANT: sampleApp.tenant,
      MSGRAPH_CLIENT_ID: sampleApp.clientId,
      MSGRAPH_CLIENT_SECRET: sampleApp.secret?.value,
      VERIFY_DRIVE: sampleDrive,
      VERIFY_PAUSE_MS: '1',
    },
  });
  expect(stdout).toContain('7 as expected, 0 otherwise');
  expect(graph.state.drive.paths()).toEqual([]);
});
