import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { isAbove, molarVersion } from '../../src/server/version.ts';

it('is that of package.json', () => {
  const { version } = JSON.parse(readFileSync(join(import.meta.dirname, '../../package.json'), 'utf8'));
  expect(molarVersion()).toBe(version);
});

it.each([
  ['0.1.0', '0.1.0', false],
  ['0.1.1', '0.1.0', true],
  ['0.10.0', '0.9.1', true],
  ['0.9.1', '0.10.0', false],
  ['1.0.0', '0.99.99', true],
  ['1.0.0-rc.1', '1.0.0', false],
])('%s above %s: %s', (version, other, above) => {
  expect(isAbove(version, other)).toBe(above);
});
