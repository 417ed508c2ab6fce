import fastify, { type FastifyInstance } from 'fastify';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { limitWork, WorkTimeout } from '../../../src/server/http/deadlines.ts';

let app: FastifyInstance;
let url: string;
let release: (text: string) => void;

/** An app whose requests are late soon: `/never` ends never, `/work` when it is released. */
beforeEach(async () => {
  const work = new Promise<string>((resolve) => {
    release = resolve;
  });
  app = fastify();
  app.setErrorHandler((error, _request, reply) => reply.code(error instanceof WorkTimeout ? 408 : 500).send('late'));
  limitWork(app, 100);
  app.get('/never', () => new Promise(() => {}));
  app.get('/begun', (_request, reply) => {
    reply.raw.writeHead(200).write('a part');
    return work;
  });
  app.get('/own', async (_request, reply) => {
    reply.hijack();
    reply.raw.writeHead(200).write('a part');
    reply.raw.end(await work);
  });
  app.post('/work', () => work);
  url = await app.listen({ host: '127.0.0.1', port: 0 });
});

afterEach(() => app.close());

const post = (path: string) =>
  fetch(url + path, { method: 'POST', body: '{}', headers: { 'content-type': 'application/json' } });

it('refuses every request that is late, one after another', async () => {
  const first = await fetch(`${url}/never`);
  const together = await Promise.all([1, 2, 3].map(() => fetch(`${url}/never`)));
  expect([first, ...together].map(({ status }) => status)).toEqual([408, 408, 408, 408]);
});

it('waits for what a body that has come whole asks for, since it may be done', async () => {
  const working = post('/work');
  // The second of these came later than the work, and is late.
  for (const _ of [1, 2]) expect((await fetch(`${url}/never`)).status).toBe(408);
  release('done');
  const answer = await working;
  expect([answer.status, await answer.text()]).toEqual([200, 'done']);
});

it('leaves answers alone that are not those of the framework', async () => {
  const own = await fetch(`${url}/own`);
  expect((await fetch(`${url}/never`)).status).toBe(408);
  release(' and the rest');
  expect(await own.text()).toBe('a part and the rest');
});

it('cuts an answer that has begun and does not end', async () => {
  const begun = await fetch(`${url}/begun`);
  await expect(begun.text()).rejects.toThrow('terminated');
});
