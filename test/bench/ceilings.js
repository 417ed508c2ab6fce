// The servers that molar is held against, in a process of their own; the first argument tells which:
//   rows FILE     node:http that reads the same stored rows of patients from the same database, and joins them
//   hello         Fastify that says hello
// Prints its port when it listens.
import { createServer } from 'node:http';
import fastify from 'fastify';
import { Database } from './driver.js';

const [kind, file] = process.argv.slice(2);

/** A list of patients without filters, token, audit or anything else: the answer is the same as molar's, byte by byte. */
function rows() {
  const database = new Database(file, { readonly: true });
  const page = database.prepare('SELECT id, json FROM patients WHERE org = 1 AND id > ? ORDER BY id LIMIT ?');
  const server = createServer((request, response) => {
    const { searchParams } = new URL(request.url, 'http://127.0.0.1');
    const limit = Number(searchParams.get('pageSize'));
    const found = page.all(Number(searchParams.get('lastId')), limit);
    const data = found.map(({ json }) => json).join(',');
    const pagination = JSON.stringify({ limit, lastId: found.at(-1)?.id });
    const text = `{"data":[${data}],"warnings":[],"errors":[],"meta":{"pagination":${pagination}}}`;
    response.setHeader('content-type', 'application/json; charset=utf-8');
    response.setHeader('content-length', Buffer.byteLength(text));
    response.end(text);
  });
  server.listen(0, '127.0.0.1', () => process.stdout.write(`${server.address().port}\n`));
}

async function hello() {
  const app = fastify();
  app.get('/', async () => ({ hello: 'world' }));
  await app.listen({ host: '127.0.0.1', port: 0 });
  process.stdout.write(`${app.server.address().port}\n`);
}

await { rows, hello }[kind]();
