import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, it } from 'vitest';

/** The files that drive the client; the service itself is every other one. */
const DRIVES_CLIENT = /^(driving\.ts|commands\/|runs)/;

it('the faithful service shares no code with the product', () => {
  const files = readdirSync(import.meta.dirname, { recursive: true, encoding: 'utf8' }).filter(
    (path) => path.endsWith('.ts') && !path.endsWith('.test.ts') && !DRIVES_CLIENT.test(path),
  );
  const imports = files.flatMap((path) => {
    const text = readFileSync(join(import.meta.dirname, path), 'utf8');
    return [...text.matchAll(/from '([^']+)'/g)].map(([, name = '']) => ({ path, name }));
  });
  const foreign = imports.filter(({ path, name }) => !name.startsWith('node:') && !within(path, name));
  expect(files.length).toBeGreaterThan(30);
  expect(foreign).toEqual([]);
});

function within(path: string, name: string): boolean {
  return resolve(import.meta.dirname, path, '..', name).startsWith(`${import.meta.dirname}/`);
}
