import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Liquid, type LiquidOptions } from 'liquidjs';

/** Every mail has three templates: `NAME.subject`, `NAME.text` and `NAME.html`, in `.liquid` files. */
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
   * Renders a template with plain data. In `.html` every value is escaped. Never throws for a user's template: when it
   * fails or renders nothing, ours is used and `warn` is called.
   */
  render(name: TemplateName, view: object): string;
}

/** Sources by name, without `.liquid`. Other names than `templateNames` are for `{% render %}`. */
export type TemplateSources = Readonly<Record<string, string>>;

const extension = '.liquid';
const ownFolder = join(import.meta.dirname, 'templates');

/** Bounds for users' templates: ms, and bytes. */
const limits = { parseLimit: 1_000_000, renderLimit: 5_000, memoryLimit: 10_000_000 };

/**
 * Our templates, replaced by those of the same name in `folder` (null: none). If the folder is unreadable, warns and uses
 * ours: no mail is lost for a template.
 */
export async function openTemplates(
  folder: string | null,
  warn: (message: string) => void,
): Promise<Templates> {
  const ours = await ownSources();
  let theirs: TemplateSources = {};
  try {
    if (folder !== null) theirs = await readSources(folder);
  } catch (error) {
    warn(`the mail templates in ${folder} cannot be read (${reasonOf(error)}); the built-in ones are used`);
  }
  const own = renderer(ours);
  const custom = renderer({ ...ours, ...theirs }, limits);
  return {
    render(name, view) {
      if (theirs[name] === undefined) return own(name, view);
      let reason = 'is empty';
      try {
        const text = custom(name, view);
        if (text.trim() !== '') return text;
      } catch (error) {
        reason = `failed (${reasonOf(error)})`;
      }
      warn(`the template ${name}${extension} ${reason}; the built-in one was used for this mail`);
      return own(name, view);
    },
  };
}

/** The templates that come with leadsync. */
export function ownSources(): Promise<TemplateSources> {
  return readSources(ownFolder);
}

/** Every `.liquid` file of a folder, by name without the ending. Throws as the file system does. */
export async function readSources(folder: string): Promise<TemplateSources> {
  const names = (await readdir(folder)).filter((name) => name.endsWith(extension)).toSorted();
  const entries = names.map(
    async (name) => [name.slice(0, -extension.length), await readFile(join(folder, name), 'utf8')] as const,
  );
  return Object.fromEntries(await Promise.all(entries));
}

type Render = Templates['render'];

/** Renders without fallback. Throws also for names that are not in the view. */
export function strictRenderer(sources: TemplateSources): Render {
  return renderer(sources, { ...limits, strictVariables: true });
}

/** From memory only: templates cannot read files, and edits do not change a running process's mails. */
function renderer(sources: TemplateSources, options: LiquidOptions = {}): Render {
  const common = {
    ...options,
    templates: { ...sources },
    extname: '',
    cache: true,
    ownPropertyOnly: true,
    strictFilters: true,
  };
  const plain = new Liquid(common);
  const html = new Liquid({ ...common, outputEscape: 'escape' });
  return (name, view) =>
    String(name.endsWith('.html') ? html.renderFileSync(name, view) : plain.renderFileSync(name, view));
}

/** An engine's or file system's error on one line. */
export function reasonOf(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).replaceAll(/\s+/g, ' ');
}
