import { writeFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { readState, removeState, statePath, writeState } from '../../../src/core/exports/folderstate.ts';
import { emptyFolder, LASTING, removalsOf } from './running.ts';

describe('the state of an unfinished run', () => {
  it('is what was written, until it is removed', async () => {
    const folder = await emptyFolder();
    expect(await readState(folder)).toBeUndefined();
    const startedAt = '2026-03-02T12:00:00.000Z';
    const state = { version: 1, startedAt, changesTime: '2026-03-02T12-00-00Z', finished: {} } as const;
    await writeState(folder, state);
    expect(await readState(folder)).toEqual(state);
    // For good: after a power cut the run that has ended would be completed once more.
    expect(await removalsOf(() => removeState(folder))).toEqual(LASTING);
    expect(await readState(folder)).toBeUndefined();
  });

  it.each([
    '',
    'null',
    '{',
    '{"version":2,"startedAt":"","changesTime":"","finished":{}}',
    '{"version":1,"startedAt":"","changesTime":"","finished":[]}',
    '{"version":1,"startedAt":"","changesTime":"","finished":null}',
    '{"version":1,"startedAt":5,"changesTime":"","finished":{}}',
    '{"version":1,"startedAt":"","finished":{}}',
  ])('counts as none when it makes no sense: %j', async (text) => {
    const folder = await emptyFolder();
    await writeFile(statePath(folder), text);
    expect(await readState(folder)).toBeUndefined();
  });
});
