/** One sample of Prometheus' text format. */
export interface Sample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

const line = /^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? (\S+)$/;
const label = /([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\]|\\.)*)"(?:,|$)/gy;

/** A page of `/metrics`, read strictly: a line that is neither a sample nor a remark throws. */
export class Exposition {
  readonly samples: readonly Sample[];
  /** By metric: its type. */
  readonly types: ReadonlyMap<string, string>;

  constructor(page: string) {
    const lines = page.split('\n').filter((text) => text !== '');
    this.samples = lines.filter((text) => !text.startsWith('#')).map(parseSample);
    this.types = new Map(
      lines.flatMap((text) => {
        const [, name, type] = /^# TYPE (\S+) (\S+)$/.exec(text) ?? [];
        return name === undefined || type === undefined ? [] : [[name, type]];
      }),
    );
  }

  /** The one sample of that name with (at least) these labels; undefined: there is none. Throws when there are several. */
  value(name: string, labels: Sample['labels'] = {}): number | undefined {
    const found = this.all(name, labels);
    if (found.length > 1) throw new Error(`${found.length} samples of ${name}`);
    return found[0]?.value;
  }

  all(name: string, labels: Sample['labels'] = {}): readonly Sample[] {
    const wanted = Object.entries(labels);
    return this.samples.filter(
      (sample) => sample.name === name && wanted.every(([key, value]) => sample.labels[key] === value),
    );
  }
}

function parseSample(text: string): Sample {
  const [, name, labels = '', value = ''] = line.exec(text) ?? [];
  if (name === undefined) throw new Error(`no line of an exposition: ${text}`);
  const pairs = [...labels.matchAll(label)];
  if (pairs.map(([whole]) => whole).join('') !== labels)
    throw new Error(`labels that cannot be read: ${text}`);
  return {
    name,
    labels: Object.fromEntries(pairs.map(([, key = '', quoted = '']) => [key, quoted])),
    value: value === '+Inf' ? Number.POSITIVE_INFINITY : Number(value),
  };
}
