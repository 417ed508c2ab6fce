import { describe, expect, it } from 'vitest';
import type { Context } from '../../../src/cli/context.ts';
import { readIds } from '../../../src/cli/flags/idlist.ts';

/** Reads ids from arguments and from what stands on standard input. */
function read(id: readonly string[], text = '', flags: object = {}) {
  const chunks = (async function* () {
    yield Buffer.from(text);
  })();
  const context = { streams: { stdin: { chunks } }, signal: new AbortController().signal } as unknown as Context;
  return readIds({ args: { id }, flags: { ...flags } } as Parameters<typeof readIds>[0], context);
}

describe('ids', () => {
  it.each<[readonly string[], string, readonly number[], boolean]>([
    [['5'], '', [5], true],
    [['5', '005'], '', [5], true],
    [['7', '5', '7'], '', [7, 5], false],
    // What is piped is a list, however long.
    [['-'], '5\n', [5], false],
    [['-'], 'ID\r\n"5"\r\n"007"\r\n', [5, 7], false],
    [['-'], '\ufeffid\n9\n8\n9\n', [9, 8], false],
    [['-'], ' 3, 4,5 ', [3, 4, 5], false],
    [['2', '-', '1'], '1 3', [2, 1, 3], false],
  ])('of %j with %j on standard input are %j', async (given, text, ids, isOne) => {
    expect(await read(given, text)).toEqual({ ids, isOne });
  });

  it.each<[readonly string[], string, object, string]>([
    [['x'], '', {}, 'ID must be a positive integer; "x" is none.'],
    [['0'], '', {}, 'ID must be a positive integer; "0" is none.'],
    [['-'], '', {}, 'There are no ids on standard input.'],
    [['-'], 'id\n', {}, 'There are no ids on standard input.'],
    [['-'], 'name\n5\n', {}, 'Standard input must hold ids only, positive integers; "name" is none.'],
    [['-'], '5\nid\n', {}, 'Standard input must hold ids only, positive integers; "id" is none.'],
    [['-'], '5', { 'token-stdin': true }, '--token-stdin and - both read standard input'],
  ])('of %j with %j on standard input, and %j, are refused', async (given, text, flags, message) => {
    const failure = { exitCode: 2, message: expect.stringContaining(message) };
    await expect(read(given, text, flags)).rejects.toMatchObject(failure);
  });
});
