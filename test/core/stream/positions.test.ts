import { mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  checkListenerName,
  isPosition,
  type NamedPosition,
  PositionStore,
} from '../../../src/core/stream/positions.ts';
import { OWNER_ONLY } from '../../support/capabilities.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'molar-test-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const place = { name: 'mirror', url: 'https://api.example.com', organization: 'org-1' };
const position: NamedPosition = {
  version: 1,
  ...place,
  keys: ['#'],
  position: 41,
  movedAt: '2026-03-02T12:00:00.000Z',
};

describe('positions', () => {
  it('come back, for their owner only', async () => {
    const positions = new PositionStore(join(folder, 'streams'));
    expect(await positions.read(place)).toBeUndefined();
    await positions.lockPath(place);
    await positions.write(position);
    // As an earlier version saved it, and as it is saved.
    expect(await positions.read(place)).toEqual(position);
    await positions.write({ ...position, position: '0a1b2c3d-42' });
    expect(await positions.read(place)).toEqual({ ...position, position: '0a1b2c3d-42' });
    const [file = '', ...others] = await readdir(positions.folder);
    expect(others).toEqual([]);
    expect((await stat(join(positions.folder, file))).mode & 0o777).toBe(OWNER_ONLY.file);
  });

  it.each([
    ['another server', { ...place, url: 'https://other.example.com' }],
    ['another organization', { ...place, organization: 'org-2' }],
    ['another name', { ...place, name: 'mirror2' }],
  ])('are not taken for those of %s', async (_name, other) => {
    const positions = new PositionStore(folder);
    await positions.write(position);
    expect(await positions.read(other)).toBeUndefined();
    expect(await positions.lockPath(other)).not.toBe(await positions.lockPath(place));
  });

  it.each([
    '{',
    '{}',
    JSON.stringify({ ...position, position: '41 or so' }),
    JSON.stringify({ ...position, version: 2 }),
    JSON.stringify({ ...position, position: 1.5 }),
    JSON.stringify({ ...position, keys: '#' }),
    ...['name', 'url', 'organization', 'movedAt'].map((name) => JSON.stringify({ ...position, [name]: undefined })),
  ])('that make no sense are refused: %s', async (text) => {
    const positions = new PositionStore(folder);
    await positions.write(position);
    const [file = ''] = await readdir(folder);
    await writeFile(join(folder, file), text);
    const source = join(folder, file);
    await expect(positions.read(place)).rejects.toMatchObject({
      code: 'local.file',
      exitCode: 9,
      items: [{ source }],
    });
  });
});

it.each([
  ...['0', '41', '9'.repeat(16), '0a1b2c3d-41', 'A.b_c~-7', `${'e'.repeat(64)}-1`].map((text) => [text, true] as const),
  ...['', '-1', '9'.repeat(17), '41 ', ' 41', '4.1', 'x', 'a-', 'a-b', 'a b-1', 'a-b-1', `${'e'.repeat(65)}-1`].map(
    (text) => [text, false] as const,
  ),
])('"%s" may be a position: %s', (text, isOne) => {
  expect(isPosition(text)).toBe(isOne);
});

describe('names of listeners', () => {
  it.each(['a', 'mirror-1', 'A_b.c', 'x'.repeat(64)])('may be %s', (name) => {
    expect(checkListenerName(name, '--name')).toBe(name);
  });

  it.each(['', '.x', '-x', 'a/b', 'a b', 'x'.repeat(65), 'ä'])('may not be "%s"', (name) => {
    expect(() => checkListenerName(name, '--name')).toThrow('--name is 1 to 64');
  });
});
