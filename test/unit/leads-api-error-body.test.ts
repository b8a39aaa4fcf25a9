import { expect, test } from 'vitest';
import { readErrorBody } from '../../src/leads-api/read-reply.ts';

test.each([
  ['{"code":"a.b","message":"No."}', 'a.b', 'No.'],
  ['{"error":{"code":"a.b","message":"No."}}', 'a.b', 'No.'],
  ['{"errors":[{"code":"a.b","message":"No."},{"code":"c"}]}', 'a.b', 'No.'],
  ['{"errors":[{"code":"a.b","detail":"No."}]}', 'a.b', 'No.'],
  ['{"error":"a.b"}', 'a.b', null],
  ['{"error":"No such lead."}', null, 'No such lead.'],
  ['{"error":"a.b","message":"No."}', 'a.b', 'No.'],
  ['{"detail":"No."}', null, 'No.'],
  ['{"code":"  ","error":{"code":"a.b"}}', 'a.b', null],
  ['{"code":42,"message":{"en":"No."}}', null, null],
  ['{"errors":{"0":{"code":"a.b"}}}', 'a.b', null],
  ['{"errors":[]}', null, null],
  ['null', null, null],
  ['[]', null, null],
  ['"No."', null, null],
  ['', null, null],
  ['  Nothing here.\n', null, 'Nothing here.'],
  ['<html>Bad gateway</html>', null, null],
  ['{"items":[{"companyName":"Acme"', null, null],
])('%s', (body, code, message) => {
  expect(readErrorBody(body)).toEqual({ code, message });
});
