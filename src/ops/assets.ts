import { hash } from 'node:crypto';
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

const texts = new Map<AssetName, string>();

/** Read once. */
export function assetText(name: AssetName): string {
  const text = texts.get(name) ?? readFileSync(new URL(`assets/${name}`, import.meta.url), 'utf8');
  texts.set(name, text);
  return text;
}

/** The address of an asset; it changes with the content, so that browsers may cache it. */
export function assetUrl(name: AssetName): string {
  return `${root}/${name}?${hash('sha256', assetText(name)).slice(0, 8)}`;
}

export function assets(): Hono {
  const site = new Hono();
  for (const [name, type] of Object.entries(types)) {
    const text = assetText(name as AssetName);
    const headers = { 'content-type': type, 'cache-control': 'public, max-age=31536000, immutable' };
    site.get(`${root}/${name}`, (c) => c.body(text, 200, headers));
  }
  return site;
}
