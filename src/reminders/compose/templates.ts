import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Liquid, type LiquidOptions } from 'liquidjs';

/** Every mail is made of three templates: `NAME.subject`, `NAME.text` and `NAME.html`, in files that end in `.liquid`. */
export type TemplateName = `${'reminder' | 'digest'}.${'subject' | 'text' | 'html'}`;

export const templateNames: readonly TemplateName[] = [
  'reminder.subject',
  'reminder.text',
  'reminder.html',
  'digest.subject',
  'digest.text',
  'digest.html',
];

export interface Templates {
  /**
   * The text that a template makes of plain data. In `.html` every value is escaped. Never throws for a template of the
   * user's: when it fails, or makes nothing, ours is used and `warn` is told.
   */
  render(name: TemplateName, view: object): string;
}

/** Template sources by name, without `.liquid`. Other names than `templateNames` can be used by `{% render %}`. */
export type TemplateSources = Readonly<Record<string, string>>;

const extension = '.liquid';
const ownFolder = join(import.meta.dirname, 'templates');

/** A template of the user's that does not end after so long (ms), or makes so many bytes, is broken. */
const limits = { parseLimit: 1_000_000, renderLimit: 5_000, memoryLimit: 10_000_000 };

/**
 * Our templates, and in their places those of the same name in `folder` (null: ours alone). A folder that cannot be read
 * is told to `warn` and ours are used: no mail is lost for a template.
 */
export async function openTemplates(
  folder: string | null,
  warn: (message: string) => void,
): Promise<Templates> {
  const ours = await ownSources();
  if (folder === null) return compile(ours, {}, warn);
  try {
    return compile(ours, await readSources(folder), warn);
  } catch (error) {
    warn(`the mail templates in ${folder} cannot be read (${reasonOf(error)}); our own are used`);
    return compile(ours, {}, warn);
  }
}

/** The templates that come with leadsync. */
export function ownSources(): Promise<TemplateSources> {
  return readSources(ownFolder);
}

/** Every `.liquid` file of a folder, by its name without the ending. Throws what the file system throws. */
export async function readSources(folder: string): Promise<TemplateSources> {
  const names = (await readdir(folder)).filter((name) => name.endsWith(extension)).toSorted();
  const entries = names.map(
    async (name) => [name.slice(0, -extension.length), await readFile(join(folder, name), 'utf8')] as const,
  );
  return Object.fromEntries(await Promise.all(entries));
}

/** What a template makes, without any fallback. Throws also for a name that is not in `view`. */
export function renderStrictly(sources: TemplateSources, name: TemplateName, view: object): string {
  return rendered(engineOf(sources, name, { ...limits, strictVariables: true }), name, view);
}

function compile(ours: TemplateSources, theirs: TemplateSources, warn: (message: string) => void): Templates {
  const own = renderer(ours, {});
  const custom = renderer({ ...ours, ...theirs }, limits);
  return {
    render(name, view) {
      if (theirs[name] === undefined) return own(name, view);
      try {
        const text = custom(name, view);
        if (text.trim() !== '') return text;
        warn(`the template ${name}${extension} made nothing; our own was used for this mail`);
      } catch (error) {
        warn(`the template ${name}${extension} failed (${reasonOf(error)}); our own was used for this mail`);
      }
      return own(name, view);
    },
  };
}

function renderer(
  sources: TemplateSources,
  options: LiquidOptions,
): (name: TemplateName, view: object) => string {
  const html = engineOf(sources, 'reminder.html', options);
  const plain = engineOf(sources, 'reminder.text', options);
  return (name, view) => rendered(name.endsWith('.html') ? html : plain, name, view);
}

/** Templates are taken from memory alone: none can read a file, and one that is edited meanwhile changes no mail. */
function engineOf(sources: TemplateSources, name: TemplateName, options: LiquidOptions): Liquid {
  return new Liquid({
    ...options,
    templates: { ...sources },
    extname: '',
    cache: true,
    ownPropertyOnly: true,
    strictFilters: true,
    ...(name.endsWith('.html') && { outputEscape: 'escape' as const }),
  });
}

function rendered(engine: Liquid, name: TemplateName, view: object): string {
  const text: unknown = engine.renderFileSync(name, view);
  return String(text);
}

/** What a template engine or a file system says, on one line. */
export function reasonOf(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).replaceAll(/\s+/g, ' ');
}
