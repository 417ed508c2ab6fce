import { describe, expect, it } from 'vitest';
import { runFiles } from '../../../../src/core/documents/uploads/uploadprepare.ts';

describe('the files of a run', () => {
  it('stand beside its results', () => {
    expect(runFiles('/data/out.csv')).toMatchObject({
      results: '/data/out.csv',
      journal: '/data/out.csv.journal',
      lock: '/data/out.csv.lock',
    });
  });

  it.each<[string, boolean]>([
    ['/data/out.csv', true],
    ['/data/out.csv.part', true],
    ['/data/out.12.csv', true],
    ['/data/out.csv.journal', true],
    ['/data/out.csv.journal.part', true],
    ['/data/out.csv.lock', true],
    ['/data/out.csv.lock.4f1c-9', true],
    ['/data/more/out.csv', false],
    ['/data/out.pdf', false],
    ['/data/out.csv.pdf', false],
    ['/data/out.a.csv', false],
    ['/data/outer.csv', false],
    ['/data/my out.csv', false],
  ])('%s: %s', (path, own) => {
    expect(runFiles('/data/out.csv').isOwn(path)).toBe(own);
  });

  it.each<[string, boolean]>([
    ['/data/results', true],
    ['/data/results.1', true],
    ['/data/results.lock', true],
    ['/data/results.pdf', false],
  ])('without an extension: %s: %s', (path, own) => {
    expect(runFiles('/data/results').isOwn(path)).toBe(own);
  });
});
