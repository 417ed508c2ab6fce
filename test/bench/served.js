// A practice and the server of it, bound to the core of servers, and the requests that measurements send to it.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { ownFolders } from './import.js';
import { pinServer } from './pinned.js';
import { ORGANIZATION, TOKEN, writePractice } from './practice.js';
import { textOf, withServer } from './processes.js';

export const HEADERS = { authorization: `Bearer ${TOKEN}`, 'organization-id': ORGANIZATION };

/** What strict costs beside it is measured by itself (audit.js). */
const MODE = ['--audit', 'buffered'];

/** Does the work with a server of a practice of so many records, bound to the core of servers. */
export async function withPractice(folder, { patients, transactions = 0 }, signal, work) {
  const file = join(folder, 'practice.ndjson');
  const data = join(folder, 'data');
  mkdirSync(folder);
  await writePractice(file, patients, transactions, signal);
  const env = ownFolders(folder);
  await textOf(['server', 'import', file, '--data', data, '--json'], env);
  return withServer(['--data', data, '--rate-limit', '1000000', ...MODE], env, async (url, { child }) => {
    pinServer(child.pid);
    return work({
      url,
      port: Number(new URL(url).port),
      pid: child.pid,
      patients,
      database: join(data, 'molar.sqlite'),
      env,
    });
  });
}

/** The whole text of a request of HTTP/1.1. */
export function requestText(method, path, headers, body = '') {
  const all = { host: '127.0.0.1', ...headers, ...(body !== '' && { 'content-length': Buffer.byteLength(body) }) };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  return `${method} ${path} HTTP/1.1\r\n${lines.join('')}\r\n${Buffer.from(body).toString('latin1')}`;
}
