import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** What syncs of so many leads cost: the first one, and one that finds nothing changed. */
export interface Point {
  readonly leads: number;
  readonly first: Figures;
  readonly nightly: Figures;
}

interface Figures {
  readonly wallMs: number;
  readonly cpuMs: number;
  readonly peakMb: number;
}

interface Echarts {
  init(this: void, element: null, theme: null, options: object): Chart;
}

interface Chart {
  setOption(option: object): void;
  renderToSVGString(): string;
  dispose(): void;
}

/** Wall time, CPU and memory over the number of leads, as an SVG; both axes are logarithmic. */
export function plot(points: readonly Point[]): string {
  // 70 MB that nothing else needs.
  const folder = mkdtempSync(join(tmpdir(), 'leadsync-plot-'));
  try {
    writeFileSync(join(folder, 'package.json'), '{}');
    execFileSync('npm', ['install', '--silent', '--no-audit', 'echarts@6.1.0'], {
      cwd: folder,
      stdio: 'inherit',
    });
    return draw(createRequire(join(folder, 'package.json'))('echarts') as Echarts, points);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function draw({ init }: Echarts, points: readonly Point[]): string {
  const chart = init(null, null, { renderer: 'svg', ssr: true, width: 900, height: 420 });
  const line = (name: string, axis: number, of: (point: Point) => number) => ({
    name,
    type: 'line' as const,
    xAxisIndex: axis,
    yAxisIndex: axis,
    data: points.map((point) => [point.leads, of(point)]),
  });
  const seconds = (ms: number): number => Number((ms / 1000).toFixed(3));
  chart.setOption({
    animation: false,
    backgroundColor: '#fff',
    legend: { top: 0 },
    grid: [
      { left: 60, top: 60, width: 360, bottom: 40 },
      { left: 510, top: 60, width: 360, bottom: 40 },
    ],
    xAxis: [0, 1].map((gridIndex) => ({
      type: 'log',
      name: 'leads',
      nameLocation: 'middle',
      nameGap: 25,
      gridIndex,
    })),
    yAxis: [
      { type: 'log', name: 's', gridIndex: 0 },
      { type: 'log', name: 'MB', gridIndex: 1, min: 10 },
    ],
    series: [
      line('first sync, wall', 0, ({ first }) => seconds(first.wallMs)),
      line('first sync, CPU', 0, ({ first }) => seconds(first.cpuMs)),
      line('nightly, wall', 0, ({ nightly }) => seconds(nightly.wallMs)),
      line('nightly, CPU', 0, ({ nightly }) => seconds(nightly.cpuMs)),
      line('first sync, peak memory', 1, ({ first }) => Math.round(first.peakMb)),
      line('nightly, peak memory', 1, ({ nightly }) => Math.round(nightly.peakMb)),
    ],
  });
  const svg = chart.renderToSVGString();
  chart.dispose();
  return svg;
}
