import { Liquid, type LiquidOptions, type Template } from 'liquidjs';
import { faultText } from '../../lib/errors.ts';
import type { ChatKind } from '../../config/chat-webhook.ts';
import { chats, type Markup } from '../chat/payload.ts';
import { localeOf } from '../plan/local-time.ts';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

/** The mails, each with three templates: `NAME.subject`, `NAME.text` and `NAME.html`, in `.liquid` files. */
export type MailKind = 'reminder' | 'moved' | 'cancelled' | 'digest';

export type TemplateName =
  | `${MailKind}.${'subject' | 'text' | 'html'}`
  | `${'reminder' | 'digest'}.chat`
  | `calendar.${'summary' | 'description'}`;

/** Sentences and labels of a language, which the views hold as `words`. Their templates have the same names. */
export type PhraseName =
  | 'decide'
  | 'digest-title'
  | 'footer'
  | 'group-more'
  | 'group-title'
  | 'item-due'
  | 'label'
  | 'name'
  | 'notes'
  | 'reason'
  | 'row'
  | 'status'
  | 'total'
  | 'waiting'
  | 'when';

const mailNames: readonly TemplateName[] = (['reminder', 'moved', 'cancelled', 'digest'] as const).flatMap(
  (kind) => (['subject', 'text', 'html'] as const).map((part) => `${kind}.${part}` as const),
);

export const templateNames: readonly TemplateName[] = [
  ...mailNames,
  'reminder.chat',
  'digest.chat',
  'calendar.summary',
  'calendar.description',
];

export interface Templates {
  /** Those of a language (`de-AT`), else of its base (`de`), else the English ones. */
  in(language: string): LanguageTemplates;
}

export interface LanguageTemplates {
  /** For Intl, as in BCP 47: the one that was asked for, or `en` when it has no templates. */
  readonly language: string;
  /**
   * Every value is escaped in `.html`, and in `.chat` for the chat's `kind`. Never throws for a user's template: when it fails or renders
   * nothing, ours is used and `warn` is called. A phrase may be empty.
   */
  render(name: TemplateName | PhraseName, view: object, kind?: ChatKind): string;
}

/** Bounds for users' templates: ms, and bytes. */
const limits = { parseLimit: 1_000_000, renderLimit: 5_000, memoryLimit: 10_000_000 };

/** Ours, replaced by those of the same name in `folder`. If it is unreadable, warns and uses ours: no mail is lost for a template. */
export async function openTemplates(
  folder: string | null,
  warn: (message: string) => void,
): Promise<Templates> {
  const ours = await ownSources();
  let theirs: TemplateFolder | null = null;
  try {
    if (folder !== null) theirs = await readSources(folder);
  } catch (error) {
    warn(`the mail templates in ${folder} cannot be read (${reasonOf(error)}); the built-in ones are used`);
  }
  const opened = new Map<string, LanguageTemplates>();
  return {
    in(wanted) {
      const found = opened.get(wanted) ?? openLanguage(languageOf(wanted, ours, theirs), ours, theirs, warn);
      opened.set(wanted, found);
      return found;
    },
  };
}

function openLanguage(
  language: string,
  ours: TemplateFolder,
  theirs: TemplateFolder | null,
  warn: (message: string) => void,
): LanguageTemplates {
  const own = renderer(mergedSources(ours, null, language), language);
  if (theirs === null) return { language, render: own };
  const custom = renderer(mergedSources(ours, theirs, language), language, limits);
  return {
    language,
    render(name, view, kind) {
      let reason = 'is empty';
      try {
        const text = custom(name, view, kind);
        if (text.trim() !== '' || !name.includes('.')) return text;
      } catch (error) {
        reason = `failed (${reasonOf(error)})`;
      }
      warn(`the template ${name}${extension} ${reason}; the built-in one was used for this mail`);
      return own(name, view, kind);
    },
  };
}

export function languageOf(wanted: string, ours: TemplateFolder, theirs: TemplateFolder | null): string {
  const names = [wanted.toLowerCase(), baseOf(wanted)];
  const isThere = names.some((name) => ours.languages.has(name) || theirs?.languages.has(name) === true);
  return isThere ? wanted : fallbackLanguage;
}

type Render = LanguageTemplates['render'];

/** Renders without fallback. Throws also for names that are not in the view. */
export function strictRenderer(sources: TemplateSources, language: string): Render {
  return renderer(sources, language, { ...limits, strictVariables: true });
}

/** From memory only: templates cannot read files, and edits do not change a running process's mails. */
function renderer(sources: TemplateSources, language: string, options: LiquidOptions = {}): Render {
  const common = {
    ...options,
    templates: { ...sources },
    extname: '',
    cache: true,
    ownPropertyOnly: true,
    strictFilters: true,
  };
  // Copies: an engine puts its own cache into the options that it gets, and what is parsed keeps how values are escaped.
  const plain = withFilters(new Liquid({ ...common }), language);
  const html = withFilters(new Liquid({ ...common, outputEscape: 'escape' }), language);
  const chatEngines = new Map<ChatKind, Liquid>();
  const chatOf = (kind: ChatKind): Liquid => {
    const made = chatEngines.get(kind) ?? withFilters(chatEngine(chats[kind], common), language);
    chatEngines.set(kind, made);
    return made;
  };
  const parsed = new Map<string, Template[]>();
  return (name, view, kind = 'slack') => {
    const engine = name.endsWith('.html') ? html : name.endsWith('.chat') ? chatOf(kind) : plain;
    const key = name.endsWith('.chat') ? `${name} ${kind}` : name;
    const template = parsed.get(key) ?? engine.parseFileSync(sourceName(name, sources));
    parsed.set(key, template);
    return String(engine.renderSync(template, view));
  };
}

/** `link`: an address with words to click, the only markup that a template needs. */
function chatEngine(markup: Markup, common: LiquidOptions): Liquid {
  const engine = new Liquid({ ...common, outputEscape: (value) => markup.escape(String(value ?? '')) });
  engine.registerFilter('link', {
    raw: true,
    handler: (url: unknown, words: unknown) => markup.link(String(url), String(words)),
  });
  return engine;
}

/** The mails about one lead share `lead.text` and `lead.html`, unless they have their own. */
export function sourceName(name: string, sources: TemplateSources): string {
  return sources[name] === undefined ? name.replace(/^(?:reminder|moved|cancelled)\./, 'lead.') : name;
}

/** `number`: with the separators of the language. `plural`: `one`, `few`, `other` and so on, by its rules. */
function withFilters(engine: Liquid, language: string): Liquid {
  const numbers = new Intl.NumberFormat(localeOf(language));
  const rules = new Intl.PluralRules(localeOf(language));
  engine.registerFilter('number', (value: unknown) => numbers.format(Number(value)));
  engine.registerFilter('plural', (value: unknown) => rules.select(Number(value)));
  return engine;
}

export function reasonOf(error: unknown): string {
  return faultText(error).replaceAll(/\s+/g, ' ');
}

/** Sources by name, without `.liquid`. Other names than `TemplateName` are for `{% render %}`. */
export type TemplateSources = Readonly<Record<string, string>>;

export interface TemplateFolder {
  /** For every language. */
  readonly common: TemplateSources;
  /** Those in a folder of their own, such as `de`, by its name in lower case. */
  readonly languages: ReadonlyMap<string, TemplateSources>;
}

export const extension = '.liquid';

export const fallbackLanguage = 'en';

const ownFolder = join(import.meta.dirname, 'templates');

export function ownSources(): Promise<TemplateFolder> {
  return readSources(ownFolder);
}

/** Every `.liquid` file of a folder and of those below it that are named like languages. Throws as the file system does. */
export async function readSources(folder: string): Promise<TemplateFolder> {
  const entries = await readdir(folder, { withFileTypes: true });
  const folders = entries.filter((entry) => entry.isDirectory() && /^[a-z]+(?:-[a-z]+)*$/i.test(entry.name));
  const languages = folders.map(
    async ({ name }) => [name.toLowerCase(), await readFiles(join(folder, name))] as const,
  );
  return { common: await readFiles(folder), languages: new Map(await Promise.all(languages)) };
}

/** By name without the ending. The line end at the end of a file is no part of the template. */
async function readFiles(folder: string): Promise<TemplateSources> {
  const names = (await readdir(folder)).filter((name) => name.endsWith(extension)).toSorted();
  const entries = names.map(async (name) => {
    const source = await readFile(join(folder, name), 'utf8');
    return [name.slice(0, -extension.length), source.replace(/\r?\n$/, '')] as const;
  });
  return Object.fromEntries(await Promise.all(entries));
}

/** The templates of a language: the user's for it, theirs for every language, ours for it, ours in English. */
export function mergedSources(
  ours: TemplateFolder,
  theirs: TemplateFolder | null,
  language: string,
): TemplateSources {
  const names = [baseOf(language), language.toLowerCase()];
  const inLanguage = (folder: TemplateFolder | null) =>
    Object.assign({}, ...names.map((name) => folder?.languages.get(name))) as TemplateSources;
  return {
    ...ours.languages.get(fallbackLanguage),
    ...ours.common,
    ...inLanguage(ours),
    ...theirs?.common,
    ...inLanguage(theirs),
  };
}

export function baseOf(language: string): string {
  return language.toLowerCase().split('-', 1)[0] ?? '';
}
