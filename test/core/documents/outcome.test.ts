import { describe, expect, it } from 'vitest';
import { exitCodeOfRun } from '../../../src/core/documents/outcome.ts';

describe('the exit code of several files', () => {
  it.each([
    ['all done', [0, 0, 0], 0],
    ['nothing to do', [], 0],
    ['some failed', [0, 2, 0], 6],
    ['some failed for several causes', [0, 2, 9], 6],
    ['all refused here', [2, 2], 2],
    ['all unreadable', [9], 9],
    ['all refused by the server', [5, 5, 5], 5],
    ['all without a way to the server', [8, 8], 8],
    ['all not allowed', [3], 3],
    ['all failed for different causes', [2, 9], 6],
    ['one done, all others unreadable', [9, 9, 0], 6],
  ])('%s', (_, codes, expected) => {
    expect(exitCodeOfRun(codes)).toBe(expected);
  });
});
