import { parseArgs } from 'node:util';
import { auditState } from './audit-state.ts';

const { values } = parseArgs({
  options: { states: { type: 'string', default: '1000000' }, seed: { type: 'string', default: '1' } },
});
const [first, states] = [Number(values.seed), Number(values.states)];
const started = performance.now();
let [failed, records] = [0, 0];
for (let seed = first; seed < first + states && failed < 10; seed++) {
  const size = 1 + (seed % 8);
  records += size;
  const faults = auditState(seed, size);
  if (faults.length === 0) continue;
  failed++;
  console.log(`seed ${seed}, size ${size}:\n  ${faults.join('\n  ')}`);
}
const seconds = (performance.now() - started) / 1000;
console.log(
  `${states} whole-run states, about ${records} records, from seed ${first}, in ${seconds.toFixed(0)} s: ${failed} with an unexplained difference`,
);
process.exitCode = failed > 0 ? 1 : 0;
