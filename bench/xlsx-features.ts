/**
 * What is left of 26 features of a workbook (and three more) after three rounds of changes, by writer, and which parts
 * are byte for byte what they were.
 *
 *     npx node bench/xlsx-features.ts [--parts]
 */
import { corpus } from '../test/xlsx/corpus/corpus.ts';
import { sheetName } from '../test/xlsx/corpus/content.ts';
import { features, judgeFeatures } from '../test/xlsx/judge/features.ts';
import { compareParts, readParts, sha256OfParts } from '../test/xlsx/judge/parts.ts';
import { syncThreeTimes } from '../test/xlsx/three-rounds.ts';

/** Row of the lead that the second round removes, by the row of the headings. */
const removedRow = (headingRow = 1) => headingRow + 4;
const sign = { kept: 'kept', lost: '**LOST**', 'not there': '–' };

const print = (line = '') => process.stdout.write(`${line}\n`);

const results = [];
for (const file of await corpus()) {
  const before = readParts(file.content);
  const after = readParts((await syncThreeTimes(file)).content);
  const verdicts = judgeFeatures(before, after, sheetName, new Set([removedRow(file.headingRow)]));
  results.push({ file, before, after, verdicts, difference: compareParts(before, after) });
}

const full = results.filter(({ file }) => file.full);
print(`| after 3 rounds | ${full.map(({ file }) => file.name).join(' | ')} |`);
print(`|---|${full.map(() => '---|').join('')}`);
for (const feature of features) {
  print(
    `| ${feature} | ${full.map(({ verdicts }) => sign[verdicts.get(feature)?.verdict ?? 'lost']).join(' | ')} |`,
  );
}
print();
print('| file | features kept / lost / not there | parts the same / changed / added / missing |');
print('|---|---|---|');
for (const { file, before, verdicts, difference } of results) {
  const count = (verdict: string) => [...verdicts.values()].filter((one) => one.verdict === verdict).length;
  const { changed, added, missing } = difference;
  const same = before.size - changed.length - missing.length;
  print(
    `| ${file.name} | ${count('kept')} / ${count('lost')} / ${count('not there')} | ${same} / ${changed.join(', ')} / ${added.length} / ${missing.length} |`,
  );
}
if (process.argv.includes('--parts')) {
  for (const { file, before, after } of full) {
    print();
    print(`${file.name}: sha256 of each part before and after`);
    const now = sha256OfParts(after);
    for (const [name, sum] of sha256OfParts(before)) {
      print(
        `${sum.slice(0, 16)} ${now.get(name)?.slice(0, 16)} ${sum === now.get(name) ? 'same   ' : 'CHANGED'} ${name}`,
      );
    }
  }
}
