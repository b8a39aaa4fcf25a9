import { Redactor } from '../../src/lib/redact.ts';
import { expect, test } from 'vitest';
import { mailError } from '../../src/reminders/send/mail.ts';

test.each([
  ['DEPTH_ZERO_SELF_SIGNED_CERT', 'NODE_EXTRA_CA_CERTS'],
  ['SELF_SIGNED_CERT_IN_CHAIN', 'NODE_EXTRA_CA_CERTS'],
  ['UNABLE_TO_GET_ISSUER_CERT_LOCALLY', 'NODE_EXTRA_CA_CERTS'],
  ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'NODE_EXTRA_CA_CERTS'],
  ['CERT_HAS_EXPIRED', 'Renew'],
  ['ERR_TLS_CERT_ALTNAME_INVALID', 'host in SMTP_URL'],
])('a certificate that cannot be trusted, %s: what helps', (originalCode, help) => {
  // As nodemailer passes on what TLS said.
  const fault = Object.assign(new Error('some words'), { code: 'ESOCKET', command: 'CONN', originalCode });
  expect(mailError(fault, false, new Redactor([]))).toMatchObject({
    code: 'mail.unavailable',
    retry: 'later',
    message: 'the certificate of the mail server cannot be trusted: some words',
    help: expect.stringContaining(help),
  });
});
