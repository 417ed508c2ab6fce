import { describe, expect, it } from 'vitest';
import { ConnectionFailure, observedBody } from '../../../src/core/transport/send.ts';

it('a failure of the connection has its name in a stack', () => {
  expect(new ConnectionFailure('No response.', { sent: false }).stack).toMatch(/^ConnectionFailure: No response\.\n/);
});

describe('a watched body', () => {
  /** A body of three pieces, and what happens to it and is told of it, in order. */
  function watched() {
    const seen: string[] = [];
    async function* pieces() {
      try {
        for (const text of ['one', 'two', 'three']) {
          seen.push(`made ${text}`);
          yield Buffer.from(text);
        }
      } finally {
        seen.push('closed');
      }
    }
    const body = observedBody(pieces(), {
      onChunk: (bytes) => seen.push(`told ${Buffer.from(bytes)}`),
      onEnd: () => seen.push('told the end'),
    });
    return { body, seen };
  }

  it('tells of each piece before it is handed over, and of the end when more is asked for', async () => {
    const { body, seen } = watched();
    for await (const bytes of body) seen.push(`got ${Buffer.from(bytes)}`);
    expect(seen).toEqual([
      ...['one', 'two', 'three'].flatMap((text) => [`made ${text}`, `told ${text}`, `got ${text}`]),
      'closed',
      'told the end',
    ]);
  });

  it('is closed when nobody reads on', async () => {
    const { body, seen } = watched();
    for await (const _ of body) break;
    expect(seen).toEqual(['made one', 'told one', 'closed']);
  });

  it('throws what reading throws', async () => {
    const broken = new Error('broken');
    const body = observedBody(
      {
        [Symbol.asyncIterator]: () => ({ next: () => Promise.reject(broken) }),
      },
      { onChunk: () => undefined },
    );
    await expect(body.next()).rejects.toBe(broken);
    expect(await body.return?.()).toEqual({ done: true, value: undefined });
  });
});
