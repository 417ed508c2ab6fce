import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { doubtful, isAllowed, type Lock, loose, production } from './supply.ts';
import { ROOT } from './tree.ts';

const textOf = (name: string) => readFileSync(join(ROOT, name), 'utf8');
const own = JSON.parse(textOf('package.json'));
const lock: Lock = JSON.parse(textOf('package-lock.json')).packages;
const shipped = production(lock);

/** libvips is under the LGPL: a library in a file of its own, loaded by sharp, which npm installs beside molar. */
const LIBVIPS = /^@img\/sharp-(?:libvips-|win32-|wasm32$)/;
const LGPL = ['LGPL-3.0-or-later'];

describe('the versions', () => {
  it('are exact, whoever asks for them', () => {
    const { dependencies, optionalDependencies, devDependencies, overrides } = own;
    expect(loose({ dependencies, optionalDependencies, devDependencies, overrides })).toEqual([]);
  });

  it('are locked with digests, and come from a registry that the lock file does not name', () => {
    expect(Object.keys(lock).length).toBeGreaterThan(500);
    expect(doubtful(lock)).toEqual([]);
  });

  it('are built by a script of its own in one optional package alone, which only the server needs', () => {
    const built = shipped.filter(({ hasInstallScript }) => hasInstallScript === true);
    expect(built.map(({ name, optional }) => ({ name, optional }))).toEqual([
      { name: 'better-sqlite3', optional: true },
    ]);
    expect(Object.keys(own.scripts).filter((name) => /^(?:pre|post)?install$|^prepare$/.test(name))).toEqual([]);
  });
});

describe('the licences', () => {
  it('of all packages that are shipped or installed fit the MIT licence', () => {
    const unfit = shipped.filter(({ name, license }) => !isAllowed(license, LIBVIPS.test(name) ? LGPL : []));
    expect(unfit.map(({ name, license }) => `${name}: ${license}`)).toEqual([]);
  });

  it('in the lock file are those that the installed packages give', () => {
    const differing = Object.entries(lock).filter(([path, { dev, license }]) => {
      const manifest = join(path, 'package.json');
      return (
        path !== '' &&
        dev !== true &&
        existsSync(join(ROOT, manifest)) &&
        JSON.parse(textOf(manifest)).license !== license
      );
    });
    expect(differing.map(([path]) => path)).toEqual([]);
  });

  const [within = '', beside = '', ...texts] = textOf('THIRD-PARTY-LICENSES').split(`\n${'-'.repeat(80)}\n\n`);
  const linesOf = (text: string) => text.split('\n').filter((line) => /^\S+ \d+\.\d+\.\d+\S*, /.test(line));

  it('are listed for each of these packages', () => {
    const titles = shipped.map(({ name, version, license }) => `${name} ${version}, ${license}`);
    expect([...linesOf(within), ...linesOf(beside)].sort()).toEqual([...new Set(titles)].sort());
  });

  it('go, with their texts, with every package that is bundled', () => {
    expect(texts.map((text) => text.split('\n')[0])).toEqual(linesOf(within));
    const wordless = texts.filter(
      (text) =>
        !/Permission is hereby granted|Permission to use|Redistribution and use|Apache License|Blue Oak|freely permitted/i.test(
          text,
        ),
    );
    expect(wordless.map((text) => text.split('\n')[0])).toEqual([]);
    expect(linesOf(within).filter((line) => /LGPL|GPL/.test(line))).toEqual([]);
  });

  it('are those of everything but machine code', () => {
    const bundled = linesOf(within).map((line) => line.slice(0, line.lastIndexOf(' ', line.indexOf(','))));
    const direct = Object.keys({ ...own.dependencies, ...own.optionalDependencies });
    expect(direct.filter((name) => !bundled.includes(name))).toEqual(['sharp', '@napi-rs/keyring', 'better-sqlite3']);
  });
});

interface Materials {
  readonly bomFormat: string;
  readonly specVersion: string;
  readonly serialNumber: string;
  readonly metadata: { readonly component: { readonly name: string; readonly version: string; readonly purl: string } };
  readonly components: readonly {
    readonly 'bom-ref': string;
    readonly purl: string;
    readonly hashes: readonly { readonly alg: string; readonly content: string }[];
    readonly licenses: readonly unknown[];
  }[];
  readonly dependencies: readonly { readonly ref: string; readonly dependsOn: readonly string[] }[];
}

describe('the list of materials', () => {
  const text = textOf('sbom.json');
  const materials: Materials = JSON.parse(text);

  it('is about this package, in a form that tools read', () => {
    expect(materials).toMatchObject({ bomFormat: 'CycloneDX', specVersion: '1.5' });
    expect(materials.serialNumber).toMatch(/^urn:uuid:[\da-f]{8}-[\da-f]{4}-8[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/);
    const { name, version } = own;
    expect(materials.metadata.component).toMatchObject({ name, version, purl: `pkg:npm/${name}@${version}` });
  });

  it('names every package that is shipped or installed, with its digest, and no other', () => {
    const wanted = new Map(
      shipped.map(({ name, version, integrity = '' }) => [
        `pkg:npm/${name.replace('@', '%40')}@${version}`,
        Buffer.from(integrity.replace('sha512-', ''), 'base64').toString('hex'),
      ]),
    );
    const given = materials.components.map(({ purl, hashes }) => [
      purl,
      hashes.map(({ alg, content }) => `${alg} ${content}`),
    ]);
    expect(given.sort()).toEqual([...wanted].map(([purl, digest]) => [purl, [`SHA-512 ${digest}`]]).sort());
    expect(materials.components.filter(({ licenses }) => licenses.length !== 1)).toEqual([]);
  });

  it('tells what needs what, from molar to the last', () => {
    const needs = new Map(materials.dependencies.map(({ ref, dependsOn }) => [ref, dependsOn]));
    const refs = materials.components.map((component) => component['bom-ref']);
    const start = `${own.name}@${own.version}`;
    const reached = new Set<string>();
    const follow = (ref: string) => {
      if (reached.has(ref)) return;
      reached.add(ref);
      for (const next of needs.get(ref) ?? []) follow(next);
    };
    follow(start);
    expect([...reached].sort()).toEqual([start, ...refs].sort());
  });

  it('is the same for the same packages, whenever and wherever it is made', async () => {
    const { billOfMaterials } = (await import(new URL('bin/sbom.js', `file://${ROOT}/`).href)) as {
      billOfMaterials(printed: string, own: object, locked: Lock, epoch?: string): string;
    };
    const printed = (timestamp: string, name: string) =>
      JSON.stringify({
        serialNumber: `urn:uuid:${timestamp}`,
        version: 1,
        metadata: { timestamp, component: { 'bom-ref': 'molar-cli@1.0.0', name } },
        components: [
          { 'bom-ref': 'a@1.0.0', properties: [{ name: 'cdx:npm:package:development', value: 'true' }] },
          { 'bom-ref': 'b@1.0.0', properties: [] },
        ],
        dependencies: [
          { ref: 'molar-cli@1.0.0', dependsOn: ['a@1.0.0', 'b@1.0.0'] },
          { ref: 'b@1.0.0', dependsOn: ['a@1.0.0'] },
        ],
      });
    // The first copy of `a` is for development, the second is shipped; `b` is for development.
    const locked: Lock = {
      '': {},
      'node_modules/a': { version: '1.0.0', dev: true },
      'node_modules/c/node_modules/a': { version: '1.0.0' },
      'node_modules/b': { version: '1.0.0', dev: true },
    };
    const made = (...[timestamp, name, epoch]: [string, string, string?]) =>
      billOfMaterials(printed(timestamp, name), { name: 'molar-cli' }, locked, epoch);
    expect(made('2026-01-01', 'clone')).toBe(made('2026-02-02', 'copy'));
    expect(JSON.parse(made('2026-01-01', 'clone', '86400'))).toMatchObject({
      metadata: { timestamp: '1970-01-02T00:00:00.000Z', component: { name: 'molar-cli' } },
      components: [{ 'bom-ref': 'a@1.0.0', properties: [] }],
      dependencies: [{ ref: 'molar-cli@1.0.0', dependsOn: ['a@1.0.0'] }],
    });
  });

  it('tells nothing of the machine it was made on', () => {
    expect([ROOT, 'resolved', 'development'].filter((word) => text.includes(word))).toEqual([]);
  });
});

describe('the checks of packages', () => {
  it.each([
    ['MIT', true],
    ['(MIT OR GPL-3.0-only)', true],
    ['MIT AND GPL-3.0-only', false],
    ['(BSD-2-Clause OR MIT OR Apache-2.0)', true],
    ['GPL-2.0-only OR (MIT AND (ISC OR SSPL-1.0))', true],
    ['(GPL-2.0-only OR MIT) AND AGPL-3.0-only', false],
    ['Apache-2.0 AND LGPL-3.0-or-later', false],
    ['MIT WITH something', false],
    ['(MIT', false],
    ['UNLICENSED', false],
    ['SEE LICENSE IN LICENSE', false],
    ['', false],
    [undefined, false],
  ])('take %s for allowed: %s', (expression, allowed) => {
    expect(isAllowed(expression)).toBe(allowed);
  });

  it('allow more where they are told to', () => {
    expect(isAllowed('Apache-2.0 AND LGPL-3.0-or-later', LGPL)).toBe(true);
  });

  const integrity = `sha512-${'A'.repeat(86)}==`;
  it.each<[string, Lock[string], string[]]>([
    ['a package of a registry', { version: '1.2.3', integrity }, []],
    ['a branch', { version: 'main', integrity }, ['p has no exact version']],
    ['no digest', { version: '1.2.3' }, ['p has no SHA-512 digest']],
    ['a weak digest', { version: '1.2.3', integrity: 'sha1-x' }, ['p has no SHA-512 digest']],
    ['a folder', { version: '1.2.3', integrity, link: true }, ['p is not from a registry']],
    [
      'a repository',
      { version: '1.2.3', integrity, resolved: 'git+ssh://git@example.com/p' },
      ['p is not from a registry', 'p names an address, which may be one that others cannot reach'],
    ],
  ])('judge %s', (_name, locked, problems) => {
    expect(doubtful({ '': {}, p: locked })).toEqual(problems);
  });

  it('find versions that float', () => {
    expect(loose({ a: '1.2.3', b: '^1.2.3', c: { d: 'latest', '.': '2.0.0' }, e: 'github:a/b' })).toEqual([
      'b@^1.2.3',
      'd@latest',
      'e@github:a/b',
    ]);
  });
});
