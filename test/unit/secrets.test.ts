import { spawn } from 'node:child_process';
import { expect, test } from 'vitest';
import { assertNoSecrets, assertNotInCommandLines, assertNotLogged, secretsOf } from '../support/secrets.ts';

test('the search of the suite finds a password in every form, in logs, and in command lines', async () => {
  const secrets = secretsOf({
    SMTP_URL: 'smtp://anna:geheim%40wort@mail',
    API_KEY: 'key-12345',
    PATH: '/usr/local/bin',
  });
  const forms = [
    'geheim%40wort',
    'geheim@wort',
    ...['geheim@wort', '\0anna\0geheim@wort', 'anna:geheim@wort'].map((text) =>
      Buffer.from(text).toString('base64'),
    ),
  ];
  for (const form of [...forms, 'key-12345'])
    expect(() => assertNoSecrets('x', `said ${form}.`, secrets)).toThrow('<SECRET>');
  assertNoSecrets('x', 'smtp://mail /usr/local/bin', secrets);
  expect(() => assertNotLogged('{"level":30,"msg":"\\"Acme\\" GmbH"}', ['"Acme" GmbH'])).toThrow('log line');
  expect(() => assertNotLogged('{"level":50,"msg":"<anna@sales.example> unknown"}', [])).toThrow('anna@');
  assertNotLogged('leadsync: anna@sales.example, Acme GmbH', ['Acme GmbH']);
  const child = spawn('sleep', ['60'], { argv0: 'geheim@wort' });
  try {
    await expect(assertNotInCommandLines(process.pid, secrets)).rejects.toThrow('command line');
  } finally {
    child.kill('SIGKILL');
  }
});
