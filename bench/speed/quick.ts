import { mergesASecond, planOf, queueOverhead, ratio, startOfStatus } from './parts.ts';
import { median } from './measure.ts';
const which = process.argv[2];
const show = (p: any) =>
  console.log(
    p.what,
    '| ours',
    median(p.ours).toFixed(1),
    '| floor',
    p.floors.length ? median(p.floors).toFixed(1) : '',
    p.unit,
    p.floors.length ? '| ratio ' + ratio(p).toFixed(2) : '',
  );
if (which === 'merge') show(mergesASecond(5));
if (which === 'status') show(await startOfStatus(9));
if (which === 'queue') show(await queueOverhead(9));
if (which === 'plan') show(await planOf(Number(process.argv[3] ?? 100_000), 5));
