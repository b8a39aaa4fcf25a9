import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { defaultFields } from '../../src/core/lead/mapping.ts';
import { composeReminder } from '../../src/reminders/compose/compose-reminder.ts';
import { templateMistakes } from '../../src/reminders/compose/template-mistakes.ts';
import { ownSources, openTemplates } from '../../src/reminders/compose/templates.ts';
import { templateDataPage } from '../docs/template-data-page.ts';

async function folderWith(files: Readonly<Record<string, string>>) {
  const folder = await mkdtemp(join(tmpdir(), 'leadsync-templates-'));
  for (const [name, source] of Object.entries(files)) {
    await mkdir(dirname(join(folder, name)), { recursive: true });
    await writeFile(join(folder, name), source);
  }
  return { folder, [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }) };
}

test('docs/template-data.md is what `npm run docs` writes now', async () => {
  const page = await readFile(new URL('../../docs/template-data.md', import.meta.url), 'utf8');
  expect(page).toBe(await templateDataPage());
});

/** A reminder made with these files in the folder, and what was said to the log. */
async function composed(files: Readonly<Record<string, string>>, language = 'en') {
  await using made = await folderWith(files);
  return await composeWith(made.folder, language);
}

async function composeWith(folder: string | null, language = 'en') {
  const warnings: string[] = [];
  const templates = await openTemplates(folder, (message) => warnings.push(message));
  const mail = composeReminder({
    kind: 'reminder',
    lead: { id: 'l1', cells: { companyName: 'Acme <b>', stage: 'new' } },
    fields: defaultFields,
    dueAt: 0,
    offsetText: '1d',
    timeZone: 'UTC',
    dayZone: 'Europe/Berlin',
    now: 0,
    changes: [],
    row: { target: 'leads.csv', number: 2 },
    leadUrl: null,
    notes: {},
    reason: null,
    hasEntry: false,
    templates: templates.in(language),
  });
  return { ...mail, warnings };
}

async function mistakes(files: Readonly<Record<string, string>>, language = 'en'): Promise<string[]> {
  await using made = await folderWith(files);
  const found = await templateMistakes(made.folder, defaultFields, language);
  return found.map((sentence) => sentence.replaceAll(made.folder, 'FOLDER'));
}

test('a file of the same name takes the place of ours, the others stay; only HTML is escaped', async () => {
  const files = {
    'reminder.subject.liquid': 'Call {{ lead.company }} ({{ offset }})\n',
    'reminder.html.liquid':
      '<p>{{ lead.fields.stage }}, {{ lead.company }}{% render "foot.html", x: lead.company %}</p>',
    'foot.html.liquid': ' and {{ x }}',
  };
  expect(await mistakes(files)).toEqual([]);
  const ours = await composeWith(null);
  const { subject, text, html, warnings } = await composed(files);
  expect(subject).toBe('Call Acme <b> (1d)');
  expect(html).toBe('<p>new, Acme &lt;b&gt; and Acme &lt;b&gt;</p>');
  expect(text).toBe(ours.text);
  expect(warnings).toEqual([]);
});

test('a part that text and HTML share is escaped in the HTML alone', async () => {
  const part = '{% render "who", x: lead.company %}';
  const { text, html } = await composed({
    'reminder.text.liquid': part,
    'reminder.html.liquid': part,
    'who.liquid': '{{ x }}',
  });
  expect([text, html]).toEqual(['Acme <b>', 'Acme &lt;b&gt;']);
});

test('our own templates, copied, are right', async () => {
  const { common, languages } = await ownSources();
  const files = Object.entries(common).map(([name, source]) => [`${name}.liquid`, source]);
  const words = [...languages].flatMap(([language, sources]) =>
    Object.entries(sources).map(([name, source]) => [`${language}/${name}.liquid`, source]),
  );
  expect(words.length).toBeGreaterThan(files.length);
  expect(await mistakes(Object.fromEntries([...files, ...words]) as Record<string, string>)).toEqual([]);
});

test('German has all that English has', async () => {
  const { languages } = await ownSources();
  const [english, german] = ['en', 'de'].map((name) => Object.keys(languages.get(name) ?? {}));
  expect(german).toEqual(english);
});

test('a language: its folder, then the files for every language, then ours in it, then English', async () => {
  const files = {
    'status.liquid': 'all',
    'reminder.subject.liquid': 'all {{ due.day }}',
    'de/reminder.subject.liquid': 'de {{ due.day }}',
    'fr/status.liquid': 'fr {{ due.longDay }}',
    'fr/reminder.subject.liquid': 'fr {{ 1234 | number }} {{ 1 | plural }}',
  };
  expect(await composed(files, 'en')).toMatchObject({ subject: 'all Thu 1 Jan 1970' });
  const german = await composed(files, 'de-AT');
  expect(german.subject).toBe('de Do., 1. Jän. 1970');
  expect(german.text).toMatch(/^all: Acme <b>\n.*Wiedervorlagedatum/s);
  const french = await composed(files, 'fr');
  expect(french.subject).toBe(`fr ${(1234).toLocaleString('fr')} one`.replace(/\s/gu, ' '));
  expect(french.text).toMatch(/^fr jeudi 1 janvier 1970: Acme <b>\n.*Sent by leadsync/s);
  // Nobody wrote Spanish templates: no Spanish dates among English words.
  expect(await composed(files, 'es')).toMatchObject({ subject: 'all Thu 1 Jan 1970' });
});

test('check names a language without templates, and what one of the folder lacks', async () => {
  for (const language of ['de', 'de-CH', 'en'])
    expect(await templateMistakes(null, defaultFields, language)).toEqual([]);
  expect(await templateMistakes(null, defaultFields, 'fr')).toEqual([
    'there are no mail templates in fr: these mails are in English',
  ]);
  const [lacks, ...others] = await mistakes(
    { 'fr/status.liquid': 'fr', 'fr/when.liquid': '{{ oops }}' },
    'fr',
  );
  expect(lacks).toMatch(/^fr\/when\.liquid in FOLDER: .*oops/);
  expect(others).toEqual([
    expect.stringMatching(/^fr in FOLDER lacks calendar\.summary\.liquid, .*English$/),
  ]);
  expect(others[0]).not.toContain('status.liquid');
});

test.each([
  ['a tag that is not closed', '{% if lead %}'],
  ['an unknown filter', '{{ lead.company | shout }}'],
  ['a part that is missing', '{% render "nowhere" %}'],
  ['a file outside', '{% include "../../../../etc/passwd" %}'],
  ['an endless loop', '{% for i in (1..100000000) %}x{% endfor %}'],
  ['nothing', '  \n'],
])('%s: check names it, and the mail is made with ours', async (_, source) => {
  const files = { 'reminder.text.liquid': source };
  const [first, ...others] = await mistakes(files);
  expect(first).toMatch(/^reminder\.text\.liquid in FOLDER: /);
  expect(others).toEqual([]);
  const { text, warnings } = await composed(files);
  expect(text).toBe((await composeWith(null)).text);
  expect(warnings).toEqual([
    expect.stringMatching(/^the template reminder\.text\.liquid .* the built-in one was used for this mail$/),
  ]);
});

test('a misspelt name is found by check and sends a mail without it', async () => {
  const files = { 'reminder.text.liquid': 'Call {{ lead.compny }}.' };
  expect(await mistakes(files)).toEqual([
    expect.stringMatching(/^reminder\.text\.liquid in FOLDER: .*lead\.compny/),
  ]);
  expect(await composed(files)).toMatchObject({ text: 'Call .', warnings: [] });
});

test('a field that is not mapped is found by check, a mapped one that a lead does not have is none', async () => {
  expect(await mistakes({ 'digest.text.liquid': '{{ groups[0].items[0].lead.fields.city }}x' })).toEqual([]);
  expect(await mistakes({ 'reminder.text.liquid': '{{ lead.fields.owner }}x' })).toHaveLength(1);
});

test('a template reaches no property that is not its own', async () => {
  const { text } = await composed({
    'reminder.text.liquid': 'a{{ lead.constructor.name }}{{ lead.__proto__ }}b',
  });
  expect(text).toBe('ab');
});

test('names that are never used, an empty folder, no folder', async () => {
  const text = 'Hello';
  expect(await mistakes({ 'reminder.txt.liquid': text, 'reminder.text.liquid': text })).toEqual([
    expect.stringMatching(
      /^reminder\.txt\.liquid in FOLDER is never used; known are reminder\.subject\.liquid, /,
    ),
  ]);
  expect(await mistakes({ 'readme.md': text })).toEqual([
    expect.stringMatching(/^FOLDER holds none of reminder\.subject\.liquid, /),
  ]);
  expect(await templateMistakes('/no/such/folder', defaultFields, 'en')).toEqual([
    expect.stringMatching(/^the folder of the mail templates, \/no\/such\/folder, cannot be read: .*ENOENT/),
  ]);
  const { text: made, warnings } = await composeWith('/no/such/folder');
  expect(made).toBe((await composeWith(null)).text);
  expect(warnings).toEqual([expect.stringContaining('/no/such/folder')]);
});
