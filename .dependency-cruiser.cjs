/** Rooms of src and what each may import; docs/architecture.md describes them. Run by `npm run lint`. */
const MAY_IMPORT = {
  catalog: [],
  text: [],
  filesystem: [],
  sqlite: [],
  postgres: ['text'],
  shells: [],
  core: ['catalog', 'filesystem', 'text', 'sqlite', 'postgres'],
  cli: ['core', 'catalog', 'filesystem', 'shells', 'text'],
  commands: ['cli', 'core', 'catalog'],
  server: ['catalog', 'filesystem', 'text', 'sqlite', 'postgres'],
  demo: ['server', 'catalog', 'filesystem', 'shells'],
};

/** The one room of the command line that starts the server: with import(), so that clients never load it. */
const STARTS_SERVER = '^src/cli/serving/';
const SERVER = '^src/(?:server|demo)/';

const TOOLS = [
  '@biomejs',
  '@oazapfts',
  '@stoplight',
  '@swc',
  'ajv',
  'ajv-formats',
  'dependency-cruiser',
  'esbuild',
].concat(['fast-check', 'knip', 'oazapfts', 'oclif', 'playwright-core', 'read-excel-file', 'typescript', 'vitest']);

const rooms = Object.entries(MAY_IMPORT).map(([room, allowed]) => ({
  name: `rooms-of-${room}`,
  comment: `src/${room} may import ${['itself', ...allowed].join(', ')}.`,
  severity: 'error',
  from: { path: `^src/${room}/`, ...(room === 'cli' && { pathNot: STARTS_SERVER }) },
  to: { path: '^src/', pathNot: `^src/(?:${[room, ...allowed].join('|')})/` },
}));

module.exports = {
  forbidden: [
    ...rooms,
    {
      name: 'server-on-demand',
      comment: 'Commands that start the server import it with import(), so that clients never load it.',
      severity: 'error',
      from: { path: STARTS_SERVER },
      to: { path: SERVER, dependencyTypesNot: ['dynamic-import'] },
    },
    {
      name: 'rooms-of-serving',
      comment: 'src/cli/serving may import the server, the demo practice, and what src/cli may.',
      severity: 'error',
      from: { path: STARTS_SERVER },
      to: { path: '^src/', pathNot: '^src/(?:cli|core|catalog|filesystem|shells|text|server|demo)/' },
    },
    {
      name: 'no-circular',
      comment: 'Two files that need each other are one idea, or share one that has no home yet; types count too.',
      severity: 'error',
      from: {},
      to: { circular: true },
    },
    {
      name: 'resolvable',
      comment: 'Every import leads to a file, a built-in module, or a package that package.json lists.',
      severity: 'error',
      from: {},
      to: { couldNotResolve: true },
    },
    {
      name: 'oclif-in-cli',
      comment: 'oclif belongs to the command line.',
      severity: 'error',
      from: { path: '^src/', pathNot: '^src/(?:cli|commands)/' },
      to: { path: 'node_modules/@oclif/' },
    },
    {
      name: 'parts-of-oclif',
      comment: 'Every command waits for what is loaded of oclif: import its parts by their paths.',
      severity: 'error',
      from: { path: '^src/' },
      to: { path: 'node_modules/@oclif/core/lib/index\\.js$', dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'tools-stay-outside',
      comment: 'What molar is built and tested with is no part of it.',
      severity: 'error',
      from: { path: '^src/' },
      to: { path: `node_modules/(?:${TOOLS.join('|')})/`, dependencyTypesNot: ['type-only'] },
    },
  ],
  options: {
    // TypeScript 7 has no parser for other programs; swc reads the same syntax.
    parser: 'swc',
    tsPreCompilationDeps: true,
    doNotFollow: { path: 'node_modules' },
    enhancedResolveOptions: { exportsFields: ['exports'], conditionNames: ['import', 'node', 'default', 'types'] },
  },
};
