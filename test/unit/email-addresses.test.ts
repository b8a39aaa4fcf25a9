import { expect, test } from 'vitest';
import { addressKey, emailAddresses, needsUtf8, wireAddress } from '../../src/core/lead/email-address.ts';

test.each<[string, readonly string[]]>([
  ['carla@example.com', ['carla@example.com']],
  [' Carla.Meyer@Example.com \n', ['Carla.Meyer@Example.com']],
  ['Carla Meyer <carla@example.com>', ['carla@example.com']],
  ['"Meyer, Carla" <carla@example.com>', ['carla@example.com']],
  ['Meyer, Carla <carla@example.com>', ['carla@example.com']],
  ['Meyer, Carla <carla@example.com>; Kurz, Ben <ben@example.com>', ['carla@example.com', 'ben@example.com']],
  ['mailto:carla@example.com', ['carla@example.com']],
  ['MAILTO:carla@example.com?subject=Hello, you', []],
  ['mailto:carla@example.com?subject=Hello', ['carla@example.com']],
  ['carla@example.com <mailto:carla@example.com>', ['carla@example.com']],
  ['<carla@example.com>', ['carla@example.com']],
  ['carla@example.com;', ['carla@example.com']],
  ['carla@example.com, ben@example.com', ['carla@example.com', 'ben@example.com']],
  ['carla@example.com,ben@example.com,', ['carla@example.com', 'ben@example.com']],
  ['carla@example.com\r\nBen <ben@example.com>', ['carla@example.com', 'ben@example.com']],
  ['\u200bcarla@example.com\ufeff', ['carla@example.com']],
  ['', []],
  [' ; ', []],
  ['Carla', []],
  ['carla@example.com, Ben', []],
  ['Ben, carla@example.com', []],
  ['carla@example.com ben@example.com', []],
  ['carla@example.com\nBcc: ben@example.com', []],
  ['Carla <carla@example.com', []],
  ['Carla <carla@example.com> Meyer', []],
  ['Carla <carla>, <ben@example.com>', []],
  ['dora..d@example.com', []],
  ['jürgen@example.com', ['jürgen@example.com']],
  ['Jürgen <anna@münchen.de>; 用户@例子.广告', ['anna@münchen.de', '用户@例子.广告']],
  ['anna@xn--mnchen-3ya.de', ['anna@xn--mnchen-3ya.de']],
  ['anna@mün chen.de', []],
  ['jür gen@example.com', []],
  ['anna\u202e@example.com', []],
  [`${'ü'.repeat(33)}@example.com`, []],
])('%j', (text, expected) => expect(emailAddresses(text)).toEqual(expected));

test.each([
  ['Anna@Example.com', 'anna@example.com', 'Anna@Example.com', false],
  ['anna@MÜNCHEN.de', 'anna@münchen.de', 'anna@xn--mnchen-3ya.de', false],
  ['anna@xn--mnchen-3ya.de', 'anna@münchen.de', 'anna@xn--mnchen-3ya.de', false],
  ['Ju\u0308rgen@example.com', 'j\u00fcrgen@example.com', 'J\u00fcrgen@example.com', true],
])('%s is known as %s, and sent as %s', (text, key, wire, isUtf8) => {
  expect([addressKey(text), wireAddress(text), needsUtf8(text)]).toEqual([key, wire, isUtf8]);
  expect(addressKey(addressKey(text))).toBe(key);
  expect(wireAddress(addressKey(text)).toLowerCase()).toBe(wire.toLowerCase());
});
