import type { PoolClient } from 'pg';
import { describe, expect, it } from 'vitest';
import { connectionOf, patienceFor } from '../../../../src/server/store/postgres/statements.ts';

/** A client that keeps what it is asked instead of asking a database. */
function fakeClient() {
  const asked: { name?: string; text: string }[] = [];
  const closed: string[] = [];
  const client = {
    query: async (query: { name?: string; text: string }) => {
      asked.push(query);
      return { rows: [], rowCount: 0 };
    },
    connection: {
      parsedStatements: {},
      stream: { cork: () => {}, uncork: () => {} },
      close: ({ name }: { name: string }) => closed.push(name),
    },
  };
  return { client: client as unknown as PoolClient, asked, closed };
}

const statement = (text: string) => ({ sql: text, text, values: [] });

describe('prepared statements of a connection', () => {
  it('have one name for each text', async () => {
    const { client, asked } = fakeClient();
    const connection = connectionOf(client, true);
    for (const text of ['a', 'b', 'a']) await connection.run(statement(text));
    expect(asked.map(({ name }) => name)).toEqual(['molar_1', 'molar_2', 'molar_1']);
    expect(connectionOf(client, true)).toBe(connection);
  });

  it('are at most 500: the one unused for longest is let go', async () => {
    const { client, asked, closed } = fakeClient();
    const connection = connectionOf(client, true);
    for (let n = 0; n < 500; n++) await connection.run(statement(`s${n}`));
    await connection.run(statement('s0'));
    expect(closed).toEqual([]);
    await connection.run(statement('new'));
    expect(closed).toEqual(['molar_2']);
    await connection.run(statement('s1'));
    expect(asked.at(-1)?.name).toBe('molar_502');
  });

  it('have none behind a pooler', async () => {
    const { client, asked } = fakeClient();
    await connectionOf(client, false).run(statement('a'));
    expect(asked).toEqual([{ text: 'a', values: [] }]);
  });

  it('are planned anew when that is asked for', async () => {
    const { client, asked, closed } = fakeClient();
    const connection = connectionOf(client, true);
    await connection.run(statement('a'));
    connection.replan();
    await connection.run(statement('a'));
    expect([asked.map(({ name }) => name), closed]).toEqual([['molar_1', 'molar_2'], ['molar_1']]);
  });
});

it.each([
  [0, 0],
  [30_000, 35_000],
])('a database that may take %i ms is waited for %i ms', (timeout, patience) => {
  expect(patienceFor(timeout)).toBe(patience);
});
