import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { Hono } from 'hono';

const types = {
  'style.css': 'text/css; charset=utf-8',
  'live.js': 'text/javascript; charset=utf-8',
  'icon.svg': 'image/svg+xml',
} as const;

type AssetName = keyof typeof types;

const root = '/assets';

/** Whether the path is an asset's; assets contain no data of this installation. */
export function isAsset(path: string): boolean {
  return path.startsWith(`${root}/`);
}

const contents = new Map<AssetName, { readonly text: string; readonly version: string }>();

/** Read once. */
function content(name: AssetName) {
  const known = contents.get(name);
  if (known !== undefined) return known;
  const text = readFileSync(new URL(`assets/${name}`, import.meta.url), 'utf8');
  const read = { text, version: createHash('sha256').update(text).digest('hex').slice(0, 8) };
  contents.set(name, read);
  return read;
}

/** The address of an asset; it changes with the content, so that browsers may cache it. */
export function assetUrl(name: AssetName): string {
  return `${root}/${name}?${content(name).version}`;
}

export function assets(): Hono {
  const site = new Hono();
  for (const [name, type] of Object.entries(types)) {
    const { text } = content(name as AssetName);
    const headers = { 'content-type': type, 'cache-control': 'public, max-age=31536000, immutable' };
    site.get(`${root}/${name}`, (c) => c.body(text, 200, headers));
  }
  return site;
}
