import pg from 'pg';

type Fields = Readonly<Record<string, unknown>>;

/** Values by the number of their type, in the form in which the oracle has those of SQLite. */
const FORMS: Readonly<Record<number, (text: string) => unknown>> = {
  16: (text) => (text === 't' ? 1n : 0n),
  20: BigInt,
  23: Number,
  1700: (text) => (/^-?\d+$/.test(text) ? BigInt(text) : Number(text)),
  1184: (text) => text.replace(' ', 'T').replace(/(\.\d+)?\+00$/, (_, part = '.') => `${String(part).padEnd(4, '0')}Z`),
};

/** Reads rows of a database, without any code of the product. */
export async function readPostgres(url: string, query: string): Promise<Fields[]> {
  const types = { getTypeParser: (oid: number) => FORMS[oid] ?? ((text: string) => text) };
  const client = new pg.Client({ connectionString: url, types: types as unknown as pg.CustomTypesConfig });
  await client.connect();
  try {
    await client.query("SET TimeZone = 'UTC'");
    return (await client.query(query)).rows;
  } finally {
    await client.end();
  }
}
