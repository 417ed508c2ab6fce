// Writes the rows of the POSTs that a server has answered for the first organization since the last time into tables of
// the same form, with nothing but the driver: so many records a transaction, one statement a table. Prints a line of JSON:
// records, and the seconds that writing took.
import pg from 'pg';

const [url, group] = process.argv.slice(2);

/** The order in which rows of each table were added: a POST adds one to each. */
const TABLES = {
  patients: 'id',
  patients_phones_number: 'id',
  stream_messages: 'seq',
  audit_entries: 'id',
  audit_patients: 'entry',
  idempotency_keys: 'created_at',
};

const client = new pg.Client({ connectionString: url });
await client.connect();
await client.query('SET client_min_messages = warning; CREATE SCHEMA IF NOT EXISTS raw');

const own = 'org = (SELECT MIN(org) FROM public.organizations)';
const tables = [];
for (const [name, order] of Object.entries(TABLES)) {
  await client.query(`CREATE TABLE IF NOT EXISTS raw.${name} (LIKE public.${name} INCLUDING ALL)`);
  const {
    rows: [{ known }],
  } = await client.query(`SELECT COUNT(*) AS known FROM raw.${name}`);
  const { rows, fields } = await client.query({
    text: `SELECT * FROM public.${name} WHERE ${own} ORDER BY ${order} OFFSET ${known}`,
    rowMode: 'array',
  });
  tables.push({ name, rows, columns: fields.map((field) => `"${field.name}"`).join(', ') });
}
const records = tables[0].rows.length;
const groups = Math.ceil(records / Number(group));

const began = performance.now();
for (let at = 0; at < groups; at++) {
  await client.query('BEGIN');
  for (const { name, rows, columns } of tables) {
    const part = rows.slice((at * rows.length) / groups, ((at + 1) * rows.length) / groups);
    if (part.length === 0) continue;
    const width = part[0].length;
    const places = part.map((_, row) => `(${part[0].map((_, column) => `$${row * width + column + 1}`).join(', ')})`);
    await client.query({
      text: `INSERT INTO raw.${name} (${columns}) VALUES ${places.join(', ')}`,
      values: part.flat(),
    });
  }
  await client.query('COMMIT');
}
const seconds = (performance.now() - began) / 1000;
await client.end();
process.stdout.write(`${JSON.stringify({ records, seconds })}\n`);
