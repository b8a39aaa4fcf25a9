// The notes of one version, cut from CHANGELOG.md, to stdout: node deploy/release-notes.ts v0.1.0 https://github.com/OWNER/REPOSITORY
import { readFileSync } from 'node:fs';

/**
 * The section of a version without its heading. Links to files of the repository become addresses, since a page of
 * releases has no files beside it.
 * @param tag such as v0.1.0
 * @param repository its address, without a slash at the end
 * @throws when there is no such section, it has no date, or it is empty
 */
export function releaseNotes(changelog: string, tag: string, repository: string): string {
  const version = tag.replace(/^v/, '');
  const sections = changelog.split(/^## /m).slice(1);
  const section = sections.find((text) => text.startsWith(`[${version}]`));
  if (section === undefined) throw new Error(`CHANGELOG.md has no section "## [${version}]"`);
  const [heading = '', ...lines] = section.split('\n');
  if (!/^\[[^\]]+\] - \d{4}-\d{2}-\d{2}$/.test(heading))
    throw new Error(`CHANGELOG.md must head it "## [${version}] - YYYY-MM-DD", not "## ${heading}"`);
  const notes = lines.filter((line) => !/^\[[^\]]+\]: /.test(line)).join('\n').trim();
  if (notes === '') throw new Error(`CHANGELOG.md says nothing about ${version}`);
  return `${notes.replaceAll(/\]\((?![a-z]+:|#)/g, `](${repository}/blob/${tag}/`)}\n`;
}

/** @throws when a tag is not `v` and the version of package.json */
export function checkTag(tag: string, version: string): void {
  if (tag !== `v${version}`) throw new Error(`the tag is ${tag}, but package.json has ${version}`);
}

if (import.meta.main) {
  const [tag = '', repository = ''] = process.argv.slice(2);
  const read = (name: string): string => readFileSync(new URL(`../${name}`, import.meta.url), 'utf8');
  checkTag(tag, (JSON.parse(read('package.json')) as { version: string }).version);
  process.stdout.write(releaseNotes(read('CHANGELOG.md'), tag, repository));
}
