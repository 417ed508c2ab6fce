import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { RESOURCES } from '../../src/catalog/catalog.ts';
import { pathsBelow, ROOT } from './tree.ts';

const read = (name: string) => JSON.parse(readFileSync(join(ROOT, name), 'utf8'));
const own = read('package.json');
const locked: Lock = read('package-lock.json').packages;

type Lock = Record<string, { dependencies?: object; optionalDependencies?: object; devDependencies?: object }>;

/** Dependencies that no entry of the lock file satisfies: `npm ci` refuses such a file. */
function missing(lock: Lock): string[] {
  return Object.entries(lock).flatMap(([path, { dependencies, optionalDependencies, devDependencies }]) =>
    Object.keys({ ...dependencies, ...optionalDependencies, ...devDependencies })
      .filter((name) => !folders(path).some((folder) => `${folder}node_modules/${name}` in lock))
      .map((name) => `${path} → ${name}`),
  );
}

/** The folders whose node_modules a package at this path sees: its own, and those above it. */
function folders(path: string): string[] {
  const above = path === '' ? [] : folders(path.slice(0, Math.max(0, path.lastIndexOf('node_modules/') - 1)));
  return [path === '' ? '' : `${path}/`, ...above];
}

describe('package.json', () => {
  it('names programs and folders that exist', () => {
    expect(Object.values<string>(own.bin).filter((path) => !existsSync(join(ROOT, path)))).toEqual([]);
    expect(own.files).toContain('oclif.manifest.json');
  });

  it('pins every dependency, so that a clone gets what was tested', () => {
    const all: [string, string][] = Object.entries({
      ...own.dependencies,
      ...own.optionalDependencies,
      ...own.devDependencies,
    });
    expect(all.filter(([, version]) => !/^(?:npm:[\w-]+@)?\d+\.\d+\.\d+(?:-[\w.]+)?$/.test(version))).toEqual([]);
  });

  it('describes each topic as the catalog does', () => {
    const topics = new Set(pathsBelow('src/commands').map((path) => path.split('/')[2]));
    const described = RESOURCES.filter(({ name }) => topics.has(name)).map(({ name, about }) => [
      name,
      { description: about },
    ]);
    expect(described.length).toBeGreaterThan(0);
    expect(own.oclif.topics).toMatchObject(Object.fromEntries(described));
  });

  it('describes every topic', () => {
    const topics = pathsBelow('src/commands')
      .map((path) => path.split('/').slice(2, -1).join(':'))
      .filter((topic) => topic !== '');
    expect(Object.keys(own.oclif.topics).sort()).toEqual([...new Set(topics)].sort());
  });
});

describe('package-lock.json', () => {
  it('is in step with package.json', () => {
    const asked = ({ dependencies, optionalDependencies, devDependencies }: Lock[string]) => ({
      dependencies,
      optionalDependencies,
      devDependencies,
    });
    expect(asked(locked[''] ?? {})).toEqual(asked(own));
  });

  it('has every package, for every platform', () => {
    expect(missing(locked)).toEqual([]);
  });

  it('is judged rightly', () => {
    const lock: Lock = {
      '': { dependencies: { a: '1' }, devDependencies: { c: '1' } },
      'node_modules/a': { dependencies: { b: '1' }, optionalDependencies: { d: '1' } },
      'node_modules/a/node_modules/b': { dependencies: { c: '1' } },
      'node_modules/c': {},
    };
    expect(missing(lock)).toEqual(['node_modules/a → d']);
    expect(missing({ ...lock, 'node_modules/d': {} })).toEqual([]);
    expect(missing({ ...lock, 'node_modules/c/node_modules/d': {} })).toEqual(['node_modules/a → d']);
  });
});
