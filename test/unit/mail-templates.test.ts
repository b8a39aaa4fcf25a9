import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { defaultFields } from '../../src/core/lead/mapping.ts';
import { composeReminder } from '../../src/reminders/compose/compose-reminder.ts';
import { templateMistakes } from '../../src/reminders/compose/template-mistakes.ts';
import { openTemplates, ownSources } from '../../src/reminders/compose/templates.ts';

async function folderWith(files: Readonly<Record<string, string>>) {
  const folder = await mkdtemp(join(tmpdir(), 'leadsync-templates-'));
  for (const [name, source] of Object.entries(files)) await writeFile(join(folder, name), source);
  return { folder, [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }) };
}

/** A reminder made with these files in the folder, and what was said to the log. */
async function composed(files: Readonly<Record<string, string>>) {
  await using made = await folderWith(files);
  return await composeWith(made.folder);
}

async function composeWith(folder: string | null) {
  const warnings: string[] = [];
  const templates = await openTemplates(folder, (message) => warnings.push(message));
  const mail = composeReminder({
    lead: { id: 'l1', cells: { companyName: 'Acme <b>', stage: 'new' } },
    fields: defaultFields,
    dueAt: 0,
    offsetText: '1d',
    timeZone: 'UTC',
    now: 0,
    changes: [],
    row: { target: 'leads.csv', number: 2 },
    leadUrl: null,
    note: null,
    templates,
  });
  return { ...mail, warnings };
}

async function mistakes(files: Readonly<Record<string, string>>): Promise<string[]> {
  await using made = await folderWith(files);
  const found = await templateMistakes(made.folder, defaultFields);
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

test('our own templates, copied, are right', async () => {
  const ours = await ownSources();
  const files = Object.fromEntries(Object.entries(ours).map(([name, source]) => [`${name}.liquid`, source]));
  expect(Object.keys(files).length).toBeGreaterThanOrEqual(6);
  expect(await mistakes(files)).toEqual([]);
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
  expect(await templateMistakes('/no/such/folder', defaultFields)).toEqual([
    expect.stringMatching(/^the folder of the mail templates, \/no\/such\/folder, cannot be read: .*ENOENT/),
  ]);
  const { text: made, warnings } = await composeWith('/no/such/folder');
  expect(made).toBe((await composeWith(null)).text);
  expect(warnings).toEqual([expect.stringContaining('/no/such/folder')]);
});
