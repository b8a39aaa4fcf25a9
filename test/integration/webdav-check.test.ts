import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { davPassword, startApache } from '../support/apache.ts';
import { freePort } from '../support/mail-server.ts';
import { Workspace } from '../support/workspace.ts';

/** The lines of Apache's configuration for https at a port, with a certificate that nobody trusts. */
function untrusted(port: number): string {
  const keys = mkdtempSync(join(tmpdir(), 'leadsync-tls-'));
  onTestFinished(() => rmSync(keys, { recursive: true }));
  const [key, certificate] = [join(keys, 'key'), join(keys, 'certificate')];
  const named = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost'];
  const made = ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2', ...named];
  execFileSync('openssl', [...made, '-keyout', key, '-out', certificate], { stdio: 'ignore' });
  return `Listen 127.0.0.1:${port}
<VirtualHost 127.0.0.1:${port}>
  SSLEngine on
  SSLCertificateFile ${certificate}
  SSLCertificateKeyFile ${key}
</VirtualHost>`;
}

const headings = 'Lead ID,Company,Segment,City,Region,Stage,Next follow-up,Status\n';
const lockBody =
  '<?xml version="1.0"?><D:lockinfo xmlns:D="DAV:"><D:lockscope><D:exclusive/></D:lockscope><D:locktype><D:write/></D:locktype><D:owner>Anna Person</D:owner></D:lockinfo>';

test('check says what is wrong with a place on Apache, and changes nothing there', {
  tags: ['apache2', 'openssl'],
}, async () => {
  const [tls, closed] = [await freePort(), await freePort()];
  await using apache = await startApache(untrusted(tls));
  const { origin, folder } = apache;
  const names = ['leads', 'password', 'token', 'nobody', 'bert', 'locked', 'ours', 'open'];
  for (const name of names) writeFileSync(join(folder, `${name}.csv`), headings);
  writeFileSync(join(folder, '.~lock.open.csv#'), ',anna,desk,,;');
  writeFileSync(join(folder, 'login.html'), '<!doctype html><title>Log in</title>\n');
  mkdirSync(join(folder, 'folder.csv'));
  for (const name of readdirSync(folder)) chmodSync(join(folder, name), 0o777);
  const lock = (name: string, owner: string) =>
    fetch(`${origin}/open/${name}.csv`, { method: 'LOCK', body: lockBody.replace('Anna Person', owner) });
  await lock('locked', 'Anna Person');
  await lock('ours', 'leadsync');
  const before = readdirSync(folder).toSorted();

  const anna = { user: 'anna', password: davPassword };
  const loginHelp = /^Set WEBDAV_USER and WEBDAV_PASSWORD/;
  // Address, login, code (null: all is well), what is said, what helps.
  const places: Record<string, [string, object, string | null, RegExp, RegExp?]> = {
    right: ['/dav/leads.csv', anna, null, /leads.csv: 0 rows, all mapped columns exist or will be created$/],
    password: [
      '/dav/password.csv',
      { ...anna, password: 'wrong' },
      'target.unauthenticated',
      /: the server rejects the user name or the password \(401\)\. Nothing was read or written\.$/,
      /^Check WEBDAV_USER and WEBDAV_PASSWORD .* app password \([^ ]*docs\/webdav\.md\)\.$/,
    ],
    nobody: [
      '/dav/nobody.csv',
      {},
      'target.unauthenticated',
      /lets nobody read without logging in \(401\)/,
      loginHelp,
    ],
    reader: [
      '/dav/bert.csv',
      { ...anna, user: 'bert' },
      'target.unauthenticated',
      /does not let this user write \(401\)\. The file is unchanged\.$/,
      /^Give this user the right to change the file/,
    ],
    readonly: [
      '/readonly/leads.csv',
      anna,
      'target.forbidden',
      /does not let this user write \(403\)\. The file is unchanged\.$/,
      /^Give this user the right to change the file and to create files in its folder\.$/,
    ],
    anonymous: [
      '/readonly/nobody.csv',
      {},
      'target.forbidden',
      /does not let anybody write without logging in \(403\)/,
      loginHelp,
    ],
    folder: [
      '/dav/folder.csv',
      anna,
      'target.unreadable',
      /folder.csv is a folder\. Nothing/,
      /^Add the name of the file/,
    ],
    missing: ['/dav/missing.csv', anna, null, /; there is no such file yet: the first sync makes it$/],
    nowhere: [
      '/dav/nowhere/leads.csv',
      anna,
      'target.not-writable',
      /^The folder of .* does not exist on the server\. Nothing was written\.$/,
      /^Create the folder/,
    ],
    locked: [
      '/open/locked.csv',
      {},
      'target.busy',
      /is locked by Anna Person\. Nothing was written\.$/,
      /A worker tries again/,
    ],
    ours: [
      '/open/ours.csv',
      {},
      'target.busy',
      /is locked by another leadsync, or by one that was killed\. Nothing was written\.$/,
      /^The lock ends by itself within a minute/,
    ],
    open: [
      '/open/open.csv',
      {},
      'target.busy',
      /is open in a spreadsheet program \(anna on desk\)/,
      /^Save and close it/,
    ],
    untagged: [
      '/untagged/leads.csv',
      {},
      null,
      /: 0 rows, .*; the server gives no ETag, so leadsync compares time and size/,
    ],
    plain: [
      '/plain/leads.csv',
      {},
      'target.refused',
      /does not lie on a WebDAV server: it refused the method \(405\)\. The file is unchanged\.$/,
      /WebDAV address of the file, not .* the page that shows it/,
    ],
    paged: [
      '/paged/leads.csv',
      {},
      'target.unreadable',
      /leads\.csv shows a web page, not the file\. Nothing was read or written\.$/,
      /WebDAV address of the file/,
    ],
    moved: [
      '/moved/leads.csv',
      anna,
      'target.bad-url',
      /leads elsewhere, to https:\/\/files\.example\.com\/leads\.csv \(302\), where leadsync does not follow/,
      /^Set the path to the WebDAV address/,
    ],
    login: [
      '/login/leads.csv',
      anna,
      'target.bad-url',
      /leads elsewhere, to .*\/open\/login\.html \(302\)/,
      /a page to log in/,
    ],
    closed: [
      `http://127.0.0.1:${closed}/leads.csv`,
      anna,
      'target.unavailable',
      /^No connection to the server of .*: nothing listens at that host and port \(ECONNREFUSED\)\. Nothing was sent\.$/,
      /^Check the address/,
    ],
    unknown: [
      'https://files.invalid/leads.csv',
      anna,
      'target.unavailable',
      /: (?:nobody knows its host name|it cannot be reached) \((?:ENOTFOUND|EAI_AGAIN)\)\. Nothing was sent/,
      /^Check the address/,
    ],
    untrusted: [
      `https://localhost:${tls}/open/leads.csv`,
      anna,
      'target.unavailable',
      /: this machine does not trust its certificate \(DEPTH_ZERO_SELF_SIGNED_CERT\)\. Nothing was sent/,
      /NODE_EXTRA_CA_CERTS/,
    ],
    noTls: [
      `https://127.0.0.1:${new URL(origin).port}/open/leads.csv`,
      anna,
      'target.unavailable',
      /: no encryption was agreed on \(ERR_SSL_WRONG_VERSION_NUMBER\)\. Nothing was sent/,
      /^Check the port/,
    ],
  };
  const others = Object.fromEntries(
    Object.entries(places).map(([name, [address, login]]) => [
      name,
      { target: { path: address.startsWith('/') ? origin + address : address, ...login } },
    ]),
  );
  await using workspace = await Workspace.open({ others });
  const result = await workspace.cli('check', '--json');
  const { checks } = result.json<{
    readonly checks: readonly { name: string; code?: string; message: string; help?: string }[];
  }>();
  for (const [name, [, , code, says, helps]] of Object.entries(places)) {
    const line = checks.find((one) => one.name === `${name}: target`);
    expect([name, line?.code ?? null]).toEqual([name, code]);
    expect(line?.message).toMatch(says);
    if (helps !== undefined) expect(line?.help).toMatch(helps);
  }
  expect(result.code).toBe(1);
  expect(readdirSync(folder).toSorted()).toEqual(before);
});
