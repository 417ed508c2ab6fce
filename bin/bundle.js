// Makes dist/ of src/: one file for each command, what they share in chunks, and every package that is not native in
// them, because finding and reading hundreds of small files is most of what a short command would wait for.
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join, resolve, sep } from 'node:path';

/** What is started or loaded by its path: by bin/run.js, and by another file of dist/. */
const BY_PATH = ['cli/main.ts', 'cli/keyring/child.ts', 'cli/keyring/systemkeyring.ts'];

/** What bin/man.js, bin/prepare.js and the measurements in test/bench/ read; it is no part of the package. */
const FOR_CHECKOUT = [
  'cli/help/manual.ts',
  'cli/help/prepared.ts',
  'core/help/importformat.ts',
  'server/import/kinds.ts',
  'server/demo/random.ts',
];

/** Machine code, which no bundle can hold, and what finds its machine code beside itself. */
const NATIVE = ['better-sqlite3', 'better-sqlite3-node-api', 'sharp', '@napi-rs/keyring', 'pg-native'];

/** What nearly every command needs, and what does without it: the first of these is needed by everything. */
const COMMON = 'cli/listcommand.ts';
const SHORT = ['cli/main.ts', 'cli/help/commandhelp.ts', 'cli/keyring/child.ts'];

/** For packages that are CommonJS: esbuild has one place that looks for `require`, which ES modules do not have. */
const REQUIRE = {
  looked: /typeof require\b/,
  given: "import{createRequire}from'node:module';const require=createRequire(import.meta.url);\n",
};

/** Bundles the sources of a checkout into a folder; gives the paths of what went into the bundles. Throws what esbuild says. */
export async function bundle(root, outdir) {
  const { build } = createRequire(join(root, 'package.json'))('esbuild');
  const common = {
    absWorkingDir: root,
    outbase: 'src',
    outdir,
    bundle: true,
    format: 'esm',
    platform: 'node',
    target: 'node20.19',
    logLevel: 'silent',
  };
  const { metafile, outputFiles } = await build({
    ...common,
    entryPoints: entries(root),
    chunkNames: 'chunks/[name]-[hash]',
    splitting: true,
    // Names stay, since messages and stack traces show them.
    minifySyntax: true,
    minifyWhitespace: true,
    external: NATIVE,
    legalComments: 'none',
    metafile: true,
    write: false,
    plugins: [lazyOclif, smallUndici(root), lazyNode, commonGround(root)],
  });
  for (const { path, text } of outputFiles) {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, REQUIRE.looked.test(text) ? `${REQUIRE.given}${text}` : text);
  }
  await build({ ...common, entryPoints: FOR_CHECKOUT.map((path) => `src/${path}`), packages: 'external' });
  return Object.keys(metafile.inputs);
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
 * The parts of undici that are used, since its index loads fetch, caches, mocks and web sockets too; and without Node's
 * own HTTP, of which undici takes a limit for headers and the name of a class, and HTTP/2, which is never spoken.
 */
const smallUndici = (root) => ({
  name: 'small-undici',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^undici$/ }, () => ({ path: 'undici', namespace: 'small' }));
    onLoad({ filter: /^undici$/, namespace: 'small' }, () => ({ contents: UNDICI, resolveDir: root }));
    onResolve({ filter: /^node:http2?$/ }, ({ path, importer }) =>
      OF_UNDICI.test(importer) ? { path, namespace: 'small' } : undefined,
    );
    onLoad({ filter: /^node:http$/, namespace: 'small' }, () => ({
      contents: 'module.exports = { IncomingMessage: class IncomingMessage {}, maxHeaderSize: 16_384 };',
    }));
    onLoad({ filter: /^node:http2$/, namespace: 'small' }, () => ({ contents: 'module.exports = { constants: {} };' }));
  },
});

const OF_UNDICI = /[/\\]undici[/\\]lib[/\\]/;

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
  const names = Object.keys(nodeModule(path)).map((name) => `get ${name}() { return load().${name}; }`);
  return `let loaded;
    const load = () => (loaded ??= process.getBuiltinModule('${path}'));
    module.exports = { ${names.join(', ')} };`;
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
