// Makes dist/ of src/: one file for each command, what they share in chunks, and every package that is not native in
// them, because finding and reading hundreds of small files is most of what a short command would wait for.
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join, resolve, sep } from 'node:path';

/** What is started or loaded by its path: by bin/run.js, and by another file of dist/. */
const BY_PATH = [
  'cli/main.ts',
  'cli/account/keyring/child.ts',
  'cli/account/keyring/systemkeyring.ts',
  'cli/query/sqlitechild.ts',
  'cli/query/sqliteprocess.ts',
  'cli/serving/workerprocess.ts',
  'cli/serving/workers.ts',
  'server/files/imagechild.ts',
  'server/files/imageport.ts',
  'server/store/sqlite/bulkloadport.ts',
  'server/store/sqlite/bulkloadthread.ts',
  'server/store/sqlite/readerport.ts',
  'server/store/sqlite/readerthread.ts',
];

/** What bin/man.mjs, bin/prepare.mjs and the measurements in test/bench/ read; it is no part of the package. */
const FOR_CHECKOUT = [
  'cli/help/manual.ts',
  'cli/help/prepared.ts',
  'cli/help/importformat.ts',
  'server/import/kinds.ts',
  'demo/random.ts',
];

/** Machine code, which no bundle can hold, and what finds its machine code beside itself. */
const NATIVE = ['better-sqlite3', 'better-sqlite3-node-api', 'sharp', '@napi-rs/keyring', 'pg-native'];

/** What nearly every command needs, and what does without it: the first of these is needed by everything. */
const COMMON = 'cli/crud/listcommand.ts';
const SHORT = [
  'cli/main.ts',
  'cli/help/commandhelp.ts',
  'cli/account/keyring/child.ts',
  'cli/query/sqlitechild.ts',
  'server/files/imagechild.ts',
  'server/store/sqlite/bulkloadthread.ts',
  'server/store/sqlite/readerthread.ts',
];

/** What bin/run.js needs before it loads the others: each a file by itself. */
const FIRST = ['src/cli/startup/node20.ts', 'src/shells/shell.ts'];

/**
 * Bundles the sources of a checkout into a folder; returns the paths of what went into the bundles. Throws what esbuild
 * says. The plugins make the program start sooner and are no part of what it does: it runs without them, too
 * (test/house/bundle.test.ts), as it must when the next version of oclif or undici is built differently.
 */
export async function bundle(root, outdir, plugins = [lazyOclif, smallUndici(root), lazyNode, commonGround(root)]) {
  const { build, transform } = createRequire(join(root, 'package.json'))('esbuild');
  // Names stay, since messages and stack traces show them.
  const small = { minifySyntax: true, minifyWhitespace: true, legalComments: 'none' };
  const target = { platform: 'node', target: 'node20.19', logLevel: 'silent' };
  const common = { ...target, absWorkingDir: root, outbase: 'src', outdir, bundle: true };
  const { metafile, outputFiles } = await build({
    ...common,
    ...small,
    entryPoints: entries(root),
    format: 'esm',
    chunkNames: 'chunks/[name]-[hash]',
    splitting: true,
    external: NATIVE,
    metafile: true,
    write: false,
    plugins,
  });
  for (const { path, text } of outputFiles) {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(
      path,
      await asCommonJs(text, (code, options) => transform(code, { ...target, ...small, ...options })),
    );
  }
  writeFileSync(join(outdir, 'package.json'), '{"type":"commonjs"}\n');
  await build({ ...common, ...small, format: 'cjs', entryPoints: FIRST });
  const forCheckout = FOR_CHECKOUT.map((path) => `src/${path}`);
  await build({ ...common, format: 'cjs', entryPoints: forCheckout, packages: 'external' });
  return Object.keys(metafile.inputs);
}

/**
 * Modules that `require` each other, made of what only ES modules can be split into: Node loads them without the 5 ms
 * that it takes to begin with ES modules, and code that V8 made of them can be kept.
 */
async function asCommonJs(text, transform) {
  const { code } = await transform(text, {
    format: 'cjs',
    supported: { 'dynamic-import': false },
    define: { 'import.meta.url': 'MODULE_URL' },
  });
  const url = code.includes('MODULE_URL') ? 'const MODULE_URL=require("node:url").pathToFileURL(__filename).href;' : '';
  return `"use strict";${url}${code}`;
}

function entries(root) {
  const commands = readdirSync(join(root, 'src', 'commands'), { recursive: true })
    .filter((path) => path.endsWith('.ts'))
    .map((path) => `src/commands/${path.split(sep).join('/')}`)
    .sort();
  return [...BY_PATH.map((path) => `src/${path}`), ...commands];
}

/**
 * Lets the modules of oclif load each other when they first use each other, not when they begin: a command uses few.
 * They are what TypeScript made of imports, `const name_1 = require("…")`, with every use spelt `name_1`.
 */
const lazyOclif = {
  name: 'lazy-oclif',
  setup({ onLoad, onResolve }) {
    onResolve({ filter: UNUSED }, ({ importer }) => (OCLIF.test(importer) ? { external: true } : undefined));
    onLoad({ filter: OCLIF }, async ({ path }) => ({
      contents: lazyRequires(await readFile(path, 'utf8')),
      loader: 'js',
    }));
  },
};

const OCLIF = /[/\\]@oclif[/\\]core[/\\]lib[/\\].*\.js$/;

/** What oclif needs for plugins, for commands without a manifest, for spinners and for TypeScript: nothing of ours. */
const UNUSED = /^(?:cli-spinners|get-package-type|lilconfig|minimatch|tinyglobby|typescript|wsl-utils)$/;

const REQUIRED = /^(?:const|var) (\w+) = ((?:__import\w+\()?require\("[^"]+"\)\)?);$/gm;

/** CommonJS text as TypeScript writes it, with every required module behind a function that loads it once. */
export function lazyRequires(text) {
  const names = [...text.matchAll(REQUIRED)].map(([, name]) => name);
  const declared = text.replace(REQUIRED, 'let $1$$;const $1$$$$ = () => ($1$$ ??= $2);');
  // In brackets, because `new name_1().X()` would make an object of the function.
  return names.reduce(
    (done, name) => done.replace(new RegExp(`(?<![\\w.$])${name}(?![\\w$])`, 'g'), () => `(${name}$$())`),
    declared,
  );
}

/**
 * The parts of undici that are used, where they still are, since its index loads fetch, caches, mocks and web sockets too; and without Node's
 * own HTTP, of which undici takes a limit for headers and the name of a class, and HTTP/2, which is never spoken.
 */
const smallUndici = (root) => ({
  name: 'small-undici',
  setup({ onResolve, onLoad }) {
    const resolvePart = createRequire(join(root, 'package.json')).resolve;
    try {
      for (const [part] of UNDICI.matchAll(/undici\/lib\/[\w/-]+\.js/g)) resolvePart(part);
    } catch {
      process.stderr.write(
        'Parts of undici have moved: commands will load all of it (smallUndici in bin/bundle.mjs).\n',
      );
      return;
    }
    onResolve({ filter: /^undici$/ }, () => ({ path: 'undici', namespace: 'small' }));
    onLoad({ filter: /^undici$/, namespace: 'small' }, () => ({ contents: UNDICI, resolveDir: root }));
    onResolve({ filter: /^node:(?:assert|http2?)$/ }, ({ path, importer }) =>
      OF_UNDICI.test(importer) ? { path, namespace: 'small' } : undefined,
    );
    onLoad({ filter: /^node:assert$/, namespace: 'small' }, () => ({ contents: ASSERT }));
    onLoad({ filter: /^node:http$/, namespace: 'small' }, () => ({
      contents: 'module.exports = { IncomingMessage: class IncomingMessage {}, maxHeaderSize: 16_384 };',
    }));
    onLoad({ filter: /^node:http2$/, namespace: 'small' }, () => ({ contents: 'module.exports = { constants: {} };' }));
  },
});

const OF_UNDICI = /[/\\]undici[/\\]lib[/\\]/;

/** Loaded only to tell what is wrong. */
const ASSERT = `
  module.exports = (value, ...told) => value || process.getBuiltinModule('node:assert')(value, ...told);
`;

const UNDICI = `
  import connect from 'undici/lib/api/api-connect.js';
  import request from 'undici/lib/api/api-request.js';
  import Agent from 'undici/lib/dispatcher/agent.js';
  import Dispatcher from 'undici/lib/dispatcher/dispatcher.js';
  import ProxyAgent from 'undici/lib/dispatcher/proxy-agent.js';
  Object.assign(Dispatcher.prototype, { connect, request });
  export { Agent, ProxyAgent };
  const send = (url, { dispatcher, ...options }) =>
    dispatcher.request({ ...options, origin: url.origin, path: url.pathname + url.search });
  export { send as request };
`;

/**
 * Lets modules of Node load when something of them is first used, where our sources import them. `node:process` is the
 * global, since to import it opens standard input, output and error.
 */
const lazyNode = {
  name: 'lazy-node',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^node:/ }, ({ path, importer, kind }) =>
      kind === 'import-statement' && OWN.test(importer) && typeof nodeModule(path) === 'object'
        ? { path, namespace: 'lazy-node' }
        : undefined,
    );
    onLoad({ filter: /^node:/, namespace: 'lazy-node' }, ({ path }) => ({ contents: lazily(path) }));
  },
};

const OWN = /[/\\]src[/\\].*\.ts$/;
const nodeModule = createRequire(import.meta.url);

function lazily(path) {
  if (path === 'node:process') return 'module.exports = process;';
  // What is found is kept where it was looked for: it is looked for once.
  return `module.exports = Object.create(new Proxy({}, {
    get(_, name, asked) {
      const value = process.getBuiltinModule('${path}')[name];
      Object.defineProperty(asked, name, { value, configurable: true });
      return value;
    },
  }));`;
}

/**
 * Has whatever is loaded by its own load the common ground too. esbuild makes one chunk for each set of entries that
 * something is reached from, so that it has to be the same set for as much as can be: a command would begin with 40
 * files otherwise, and it begins with 10.
 */
const commonGround = (root) => {
  const src = join(root, 'src');
  const targets = new Set([...entries(root), ...importedLater(src)].map((path) => resolve(root, path)));
  const [first, ...short] = SHORT.map((path) => join(src, path));
  const groundOf = (path) => (short.includes(path) ? [first] : [first, join(src, COMMON)]);
  return {
    name: 'common-ground',
    setup({ onLoad }) {
      onLoad({ filter: OWN }, async ({ path }) => {
        if (!targets.has(path) || path === first) return undefined;
        // On the first line, so that what esbuild says of the file keeps its line numbers.
        const ground = groundOf(path).map((each) => `import ${JSON.stringify(each)};`);
        return { contents: `${ground.join('')}${await readFile(path, 'utf8')}`, loader: 'ts' };
      });
    },
  };
};

/** The files below a folder that are imported with `import()`. */
function importedLater(folder) {
  return readdirSync(folder, { recursive: true })
    .filter((path) => path.endsWith('.ts'))
    .map((path) => join(folder, path))
    .flatMap((file) =>
      [...readFileSync(file, 'utf8').matchAll(/(?<!typeof )\bimport\('(\.[^']+)'\)/g)].map(([, path]) =>
        resolve(dirname(file), path),
      ),
    );
}
