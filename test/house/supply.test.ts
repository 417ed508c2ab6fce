import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, it } from 'vitest';
import { bundled, doubtful, installed, isAllowed, LGPL, type Lock, loose, type Named } from './supply.ts';
import { ROOT } from './tree.ts';

const textOf = (name: string) => readFileSync(join(ROOT, name), 'utf8');
const own = JSON.parse(textOf('package.json'));
const lock: Lock = JSON.parse(textOf('package-lock.json')).packages;
const program = <Exports>(name: string): Promise<Exports> => import(pathToFileURL(join(ROOT, name)).href);

/** The paths of all that goes into the bundles, as esbuild tells them. */
async function inputsOfBundles(): Promise<string[]> {
  const { bundle } = await program<{ bundle(root: string, outdir: string): Promise<string[]> }>('bin/bundle.mjs');
  const folder = mkdtempSync(join(tmpdir(), 'molar-bundles-'));
  try {
    return await bundle(ROOT, folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

const inside = bundled(lock, await inputsOfBundles());
const beside = installed(lock);
const shipped = [...inside, ...beside];

/** Machine code, which no bundle can hold, by the names of its folders. */
const NATIVE = ['@napi-rs/keyring', 'better-sqlite3', 'better-sqlite3-node-api', 'sharp'];

/** libvips is under the LGPL: a library in a file of its own, loaded by sharp, which npm installs beside molar. */
const LIBVIPS = /^@img\/sharp-(?:libvips-|win32-|wasm32$)/;

describe('the versions', () => {
  it('are exact, whoever asks for them', () => {
    const { dependencies = {}, optionalDependencies, devDependencies, overrides } = own;
    expect(loose({ dependencies, optionalDependencies, devDependencies, overrides })).toEqual([]);
  });

  it('are locked with digests, and come from a registry that the lock file does not name', () => {
    expect(Object.keys(lock).length).toBeGreaterThan(500);
    expect(doubtful(lock)).toEqual([]);
  });

  it('are asked for where molar is installed only for machine code; all else is bundled as it is locked', () => {
    expect(own.dependencies).toBeUndefined();
    expect(Object.keys(own.optionalDependencies)).toEqual(NATIVE);
    const folders = inside.map(({ folder }) => folder);
    expect(folders.length).toBeGreaterThan(100);
    expect(NATIVE.filter((name) => folders.includes(`node_modules/${name}`))).toEqual([]);
    expect(beside.filter(({ os, cpu }) => os === undefined && cpu === undefined).length).toBeLessThan(50);
  });

  it('are built by a script of its own in one optional package alone, which only the server needs', () => {
    const built = beside.filter(({ hasInstallScript }) => hasInstallScript === true);
    expect(built.map(({ name, optional }) => ({ name, optional }))).toEqual([
      { name: 'better-sqlite3', optional: true },
    ]);
    expect(Object.keys(own.scripts).filter((name) => /^(?:pre|post)?install$|^prepare$/.test(name))).toEqual([]);
  });
});

describe('the drivers of SQLite in the lock file, which npm goes by on every version of Node', () => {
  // npm takes over the first from the package when it is updated, which then says more, and drops the second whenever it
  // writes the file: write them again.
  it('have the one that is built only for versions that load it', () => {
    expect(lock['node_modules/better-sqlite3']?.engines).toEqual({ node: '>=20.19.0 <22.14.0' });
  });

  it('have the other one never built, as its package.json says', () => {
    expect(lock['node_modules/better-sqlite3-node-api']).toMatchObject({ gypfile: false });
  });
});

describe('the licences', () => {
  // Those that do not fit this machine or this Node are not here.
  const present = shipped.filter(({ folder }) => existsSync(join(ROOT, folder)));

  it('of all packages that are bundled or installed fit the MIT licence', () => {
    const unfit = shipped.filter(({ name, license }) => !isAllowed(license, LIBVIPS.test(name) ? LGPL : []));
    expect(unfit.map(({ name, license }) => `${name}: ${license}`)).toEqual([]);
  });

  it('in the lock file are those that the installed packages give', () => {
    const differing = present.filter(
      ({ folder, license }) => JSON.parse(textOf(`${folder}/package.json`)).license !== license,
    );
    expect(differing.map(({ folder }) => folder)).toEqual([]);
  });

  it('lie in the folders of those that are installed', () => {
    // The package of libvips has its licences in its README.
    const without = present
      .filter(({ folder }) => beside.some((each) => each.folder === folder))
      .filter(({ folder }) => !readdirSync(join(ROOT, folder)).some((name) => /^(?:licen[cs]e|copying)/i.test(name)))
      .filter(({ folder }) => !/licen[cs]e/i.test(textOf(`${folder}/README.md`)));
    expect(without.map(({ folder }) => folder)).toEqual([]);
  });

  const [within = '', others = '', ...texts] = textOf('THIRD-PARTY-LICENSES').split(`\n${'-'.repeat(80)}\n\n`);
  const linesOf = (text: string) => text.split('\n').filter((line) => /^\S+ \d+\.\d+\.\d+\S*, /.test(line));

  const titlesOf = (packages: readonly Named[]) =>
    [...new Set(packages.map(({ name, version, license }) => `${name} ${version}, ${license}`))].sort();

  it('are listed for each of these packages, and it is told which are bundled', () => {
    expect(linesOf(within).sort()).toEqual(titlesOf(inside));
    expect([...linesOf(within), ...linesOf(others)].sort()).toEqual(titlesOf(shipped));
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
});

interface Materials {
  readonly bomFormat: string;
  readonly specVersion: string;
  readonly serialNumber: string;
  readonly metadata: { readonly component: { readonly name: string; readonly version: string; readonly purl: string } };
  readonly components: readonly {
    readonly 'bom-ref': string;
    readonly name: string;
    readonly version: string;
    readonly scope: string;
    readonly properties: readonly { readonly name: string; readonly value: string }[];
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

  const purlOf = ({ name, version }: Named) => `pkg:npm/${name.replace('@', '%40')}@${version}`;

  it('names every package that is bundled or installed, with its digest, and no other', () => {
    const wanted = new Map(
      shipped.map((each) => [
        purlOf(each),
        Buffer.from((each.integrity ?? '').replace('sha512-', ''), 'base64').toString('hex'),
      ]),
    );
    const given = materials.components.map(({ purl, hashes }) => [
      purl,
      hashes.map(({ alg, content }) => `${alg} ${content}`),
    ]);
    expect(given.sort()).toEqual([...wanted].map(([purl, digest]) => [purl, [`SHA-512 ${digest}`]]).sort());
    expect(materials.components.filter(({ licenses }) => licenses.length !== 1)).toEqual([]);
    expect(
      materials.components.filter(({ name, version, ...each }) => each['bom-ref'] !== `${name}@${version}`),
    ).toEqual([]);
  });

  it('tells which of them are bundled, and which npm may leave out', () => {
    const purls = (packages: readonly Named[]) => [...new Set(packages.map(purlOf))].sort();
    const bundledOnes = materials.components.filter(({ properties }) =>
      properties.some(({ name, value }) => name === 'cdx:npm:package:bundled' && value === 'true'),
    );
    expect(bundledOnes.map(({ purl }) => purl).sort()).toEqual(purls(inside));
    const needed = beside.filter(({ optional, devOptional }) => optional !== true && devOptional !== true);
    const required = materials.components.filter(({ scope }) => scope === 'required').map(({ purl }) => purl);
    expect(required.sort()).toEqual(purls([...inside, ...needed]));
  });

  it('names both lines of the SQLite driver, whichever this Node has', () => {
    const drivers = materials.components.filter(({ name }) => name === 'better-sqlite3').map(({ purl }) => purl);
    const asked = [`better-sqlite3@${own.optionalDependencies['better-sqlite3']}`];
    asked.push(own.optionalDependencies['better-sqlite3-node-api'].replace(/^npm:/, ''));
    expect(drivers.sort()).toEqual(asked.map((each) => `pkg:npm/${each}`));
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
    const { billOfMaterials } = await program<{
      billOfMaterials(printed: string, own: object, locked: Lock, folders: readonly string[], epoch?: string): string;
    }>('bin/sbom.mjs');
    const printed = (timestamp: string, name: string) =>
      JSON.stringify({
        serialNumber: `urn:uuid:${timestamp}`,
        version: 1,
        metadata: { timestamp, component: { 'bom-ref': 'molar-cli@1.0.0', name } },
        components: [
          { 'bom-ref': 'a@1.0.0', name: 'a', scope: 'optional', properties: forDevelopment },
          { 'bom-ref': 'b@1.0.0', name: 'b', scope: 'optional', properties: forDevelopment },
          { 'bom-ref': '@d/d@1.0.0', name: 'd-by-another-name', scope: 'optional', properties: [] },
          { 'bom-ref': 'e@1.0.0', name: 'e', scope: 'optional', properties: forDevelopment },
        ],
        dependencies: [
          { ref: 'molar-cli@1.0.0', dependsOn: ['a@1.0.0', 'b@1.0.0', '@d/d@1.0.0', 'e@1.0.0'] },
          { ref: 'b@1.0.0', dependsOn: ['a@1.0.0'] },
          { ref: 'e@1.0.0', dependsOn: ['a@1.0.0', 'b@1.0.0'] },
        ],
      });
    const forDevelopment = [{ name: 'cdx:npm:package:development', value: 'true' }];
    // The first copy of `a` is for development, the second is installed; `b` is for development; `e` is, and is bundled.
    const locked: Lock = {
      '': {},
      'node_modules/a': { version: '1.0.0', dev: true },
      'node_modules/c/node_modules/a': { version: '1.0.0' },
      'node_modules/b': { version: '1.0.0', dev: true },
      'node_modules/d-by-another-name': { name: '@d/d', version: '1.0.0', optional: true },
      'node_modules/e': { version: '1.0.0', dev: true },
    };
    const made = (...[timestamp, name, epoch]: [string, string, string?]) =>
      billOfMaterials(printed(timestamp, name), { name: 'molar-cli' }, locked, ['node_modules/e'], epoch);
    expect(made('2026-01-01', 'clone')).toBe(made('2026-02-02', 'copy'));
    expect(JSON.parse(made('2026-01-01', 'clone', '86400'))).toMatchObject({
      metadata: { timestamp: '1970-01-02T00:00:00.000Z', component: { name: 'molar-cli' } },
      components: [
        { 'bom-ref': 'a@1.0.0', name: 'a', scope: 'required', properties: [] },
        { 'bom-ref': '@d/d@1.0.0', name: '@d/d', scope: 'optional', properties: [] },
        {
          'bom-ref': 'e@1.0.0',
          name: 'e',
          scope: 'required',
          properties: [{ name: 'cdx:npm:package:bundled', value: 'true' }],
        },
      ],
      dependencies: [
        { ref: 'molar-cli@1.0.0', dependsOn: ['a@1.0.0', '@d/d@1.0.0', 'e@1.0.0'] },
        { ref: 'e@1.0.0', dependsOn: ['a@1.0.0'] },
      ],
    });
  });

  it('tells nothing of the machine it was made on', () => {
    expect([ROOT, 'resolved', 'package:development'].filter((word) => text.includes(word))).toEqual([]);
  });
});
