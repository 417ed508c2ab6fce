import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ManifestConfig } from '../../src/cli/startup/manifestconfig.ts';
import { pathsBelow, ROOT } from './tree.ts';

const MEBIBYTE = 2 ** 20;
/** How minified modules name others that lie beside them. */
const LOADS = /\brequire\("(\.{1,2}\/[^"]+\.js)"\)/g;
/** How they name packages, a scope in it. */
const ASKS_FOR = /\b(?:require|import)\("((?:@[^/"]+\/)?[^./"][^/"]*)[^"]*"\)/g;
/** Packages that are named, and are not loaded where molar is installed. */
const NEVER_LOADED = [
  // In texts: it makes code for a build that is done.
  ...['ajv', 'ajv-formats'],
  // Another way of signing, where the package is there.
  '@aws-sdk/signature-v4-crt',
  // Of oclif, for what nothing here does (bin/bundle.mjs).
  'wsl-utils',
];

interface Packed {
  readonly size: number;
  readonly unpackedSize: number;
  readonly files: readonly { readonly path: string }[];
}

/** What `npm pack` would take of what is built; without scripts, since other tests run from dist/ meanwhile. */
function packed(): Packed {
  const args = ['pack', '--dry-run', '--json', '--ignore-scripts'];
  const { stdout, stderr } = spawnSync('npm', args, { cwd: ROOT, encoding: 'utf8' });
  const [one] = Object.values<Packed>(JSON.parse(stdout || '{}'));
  return one ?? expect.fail(`npm pack printed nothing it was asked for: ${stderr}`);
}

const { size, unpackedSize, files } = packed();
const paths = files.map(({ path }) => path).sort();
const textOf = (path: string) => readFileSync(join(ROOT, path), 'utf8');
const whereBundled = (path: string) => path.replace(/^src\//, 'dist/').replace(/\.ts$/, '.js');

describe('the package', () => {
  it('holds the program, its pages, and what has to be known about both; nothing else', () => {
    const { commands, topics } = new ManifestConfig(ROOT);
    const helped = new Set([...commands.map(({ id }) => id), ...topics.map(({ name }) => name)]);
    // What it shows names the version of Node.
    helped.delete('help');
    const wanted = [
      ...['CHANGELOG.md', 'LICENSE', 'README.md', 'SECURITY.md', 'THIRD-PARTY-LICENSES', 'sbom.json'],
      ...['bin/package.json', 'bin/run.js', 'oclif.manifest.json', 'package.json'],
      ...[
        'dist/package.json',
        'dist/cli/startup/node20.js',
        'dist/cli/main.js',
        'dist/cli/account/keyring/child.js',
        'dist/cli/account/keyring/systemkeyring.js',
        'dist/cli/query/sqlitechild.js',
        'dist/cli/query/sqliteprocess.js',
        'dist/cli/serving/workerprocess.js',
        'dist/cli/serving/workers.js',
        'dist/server/files/imagechild.js',
        'dist/server/files/imageport.js',
        'dist/server/store/sqlite/bulkloadport.js',
        'dist/server/store/sqlite/bulkloadthread.js',
        'dist/server/store/sqlite/readerport.js',
        'dist/server/store/sqlite/readerthread.js',
        'dist/shells/shell.js',
      ],
      ...pathsBelow('src/commands').map(whereBundled),
      ...[...helped].map((id) => `dist/help/${id.replaceAll(':', '.')}.json`),
      ...pathsBelow('docs/help'),
      ...pathsBelow('man'),
      ...pathsBelow('ops'),
    ];
    expect(paths.filter((path) => !/^dist\/chunks\/[\w.-]+-[A-Z0-9]{8}\.js$/.test(path))).toEqual(wanted.sort());
  });

  it('holds every file that one of its files loads', () => {
    const loaded = paths
      .filter((path) => /^dist\/.*\.js$/.test(path))
      .flatMap((path) => [...textOf(path).matchAll(LOADS)].map(([, to = '']) => join(path, '..', to)));
    expect(loaded.length).toBeGreaterThan(1000);
    expect([...new Set(loaded)].filter((path) => !paths.includes(path))).toEqual([]);
  });

  it('asks for no package that may not be there, but the optional ones', () => {
    const asked = paths
      .filter((path) => /^dist\/.*\.js$/.test(path))
      .flatMap((path) => [...textOf(path).matchAll(ASKS_FOR)].map(([, name = '']) => name))
      .filter((name) => !isBuiltin(name));
    expect([...new Set(asked)].sort()).toEqual(['@napi-rs/keyring', 'sharp', ...NEVER_LOADED].sort());
  });

  it('is small', () => {
    expect(size).toBeLessThan(2.5 * MEBIBYTE);
    expect(unpackedSize).toBeLessThan(11 * MEBIBYTE);
  });

  it('tells nothing of the machine it was made on, and nothing secret', () => {
    // A short home, such as that of an administrator, also begins other paths.
    const folders = [ROOT, homedir(), tmpdir()].map((folder) => `${folder}/`);
    const machine = new RegExp(
      `(?<![\\w.-])/(?:ho${'me'}|Us${'ers'})/\\w+/|sourceMapp${'ingURL'}=|-----BEGIN [A-Z ]*PRIVATE KEY`,
    );
    const told = paths.flatMap((path) => {
      const text = textOf(path);
      return [...folders.filter((folder) => text.includes(folder)), ...(machine.exec(text) ?? [])].map(
        (what) => `${path}: ${what}`,
      );
    });
    expect(told).toEqual([]);
  });
});
