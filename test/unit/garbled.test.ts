import { describe, expect, test } from 'vitest';
import { isGarbled } from '../../src/core/lead/garbled.ts';

describe('what a program makes of a text that it reads or stores in the wrong encoding', () => {
  test.each([
    ['UTF-8 read as Windows-1252', 'MÃ¼ller & SÃ¶hne', 'Müller & Söhne'],
    ['UTF-8 read as Windows-1252, where it has no letter', 'Ã\x81rpÃ¡d', 'Árpád'],
    ['UTF-8 read as Latin-1', 'Stra\xc3\x9fe', 'Straße'],
    ['UTF-8 read as Mac Roman', 'M√ºller', 'Müller'],
    ['UTF-8 read as code page 850', 'M├╝ller', 'Müller'],
    ['Mac Roman read as Windows-1252', 'KšlnerstraŸe', 'Kölnerstraüe'],
    ['Mac Roman, which lacks two of the letters, read as Windows-1252', '?—d?', 'Łódź'],
    ['code page 850 read as Windows-1252', 'K”ln, Straáe', 'Köln, Straße'],
    ['a question mark for what Windows-1252 lacks, the rest as it was', '?ód?', 'Łódź'],
    ['replacement characters', 'M\ufffdller', 'Müller'],
    ['a replacement character for each byte', 'M\ufffd\ufffdller', 'Müller'],
    ['two for a character beyond the first plane', '?? Bau', '😀 Bau'],
    ['all of it', '??', '日本'],
    ['a text that was written otherwise', 'MÃ¼ller', 'Mu\u0308ller'],
  ])('%s', (_, text, original) => {
    expect(isGarbled(text, original)).toBe(true);
  });
});

describe('an edit', () => {
  test.each([
    ['nothing changed', 'Müller', 'Müller'],
    ['no accents', 'Lodz', 'Łódź'],
    ['another spelling', 'Mueller', 'Müller'],
    ['a letter less', 'Mller', 'Müller'],
    ['a question mark after it', 'Müller?', 'Müller'],
    ['a question mark in place of a plain letter', 'M?ller', 'Muller'],
    ['another name', 'Möller', 'Müller'],
    ['one question mark and another change', 'M?ller AG', 'Müller'],
    ['mended', 'Müller', 'MÃ¼ller'],
    ['emptied', '', 'Müller'],
    ['a name of its own in place of an emptied one', 'Müller', ''],
  ])('%s', (_, text, original) => {
    expect(isGarbled(text, original)).toBe(false);
  });
});
