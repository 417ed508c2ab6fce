import { DuckDBInstance } from '@duckdb/node-api';

/** A Parquet file as DuckDB reads it: types by column, and rows; decimals as numbers, dates and instants as ISO text. */
export async function parquetRows(file: string) {
  const instance = await DuckDBInstance.create();
  const database = await instance.connect();
  await database.run("SET TimeZone = 'UTC'");
  const from = `read_parquet('${file.replaceAll("'", "''")}')`;
  const described = await (await database.runAndReadAll(`DESCRIBE SELECT * FROM ${from}`)).getRowObjectsJson();
  const types = Object.fromEntries(described.map((row) => [String(row.column_name), String(row.column_type)]));
  const read = await database.runAndReadAll(`SELECT * FROM ${from}`);
  const rows = read
    .getRowObjectsJson()
    .map((row) =>
      Object.fromEntries(Object.entries(row).map(([name, value]) => [name, readable(value, types[name] ?? '')])),
    );
  database.closeSync();
  return { types, rows };
}

function readable(value: unknown, type: string): unknown {
  if (value === null) return null;
  if (type.startsWith('DECIMAL') || type === 'BIGINT') return Number(value);
  return type === 'TIMESTAMP WITH TIME ZONE' ? new Date(String(value).replace(/\+00$/, 'Z')).toISOString() : value;
}
