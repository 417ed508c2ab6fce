// How fast a stream reaches many listeners of one organization, against the same bytes written to as many sockets.
import { execFileSync, fork } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { ownFolders } from './import.js';
import { ORGANIZATION, TOKEN, writePractice } from './practice.js';
import { textOf, watch, withServer } from './processes.js';

const HEADERS = { authorization: `Bearer ${TOKEN}`, 'organization-id': ORGANIZATION };
/** The last message of an async delivery, and of nothing else. */
const DELIVERED = 'event: READ_COMPLETE\n';

/** Measures a replay of the outbox, and messages of an async delivery as they are made. */
export async function measure({ folder, signal, small, report }) {
  const [listeners, patients, rounds] = small ? [100, 2000, 3] : [100, 5000, 9];
  const env = ownFolders(folder);
  const data = ['--data', join(folder, 'data'), '--rate-limit', '1000000'];
  const practice = join(folder, 'practice.ndjson');
  await writePractice(practice, patients, 0, signal);
  await textOf(['server', 'import', practice, '--json', '--data', join(folder, 'data')], env);
  report.section(
    'Stream to many listeners',
    `${listeners} listeners of one organization in one process${placesText()}. The stream is read from the outbox of the database, its tokens are checked, and what is listened to is audited; what is live is also written, durably, while it is sent. The other side is a bare node:http server that writes the same bytes from memory, 64 KiB at once.`,
  );
  await withServer(data, env, async (url, { child }) => {
    pin(child.pid, 0);
    const readers = forked('listeners.js');
    pin(readers.pid, 1);
    const stream = { port: Number(new URL(url).port), count: listeners };
    const deliver = () => answered(`${url}/api/v1/patients/async?pageSize=1`);
    for (const kind of [replay(url), live(url, deliver)]) {
      const content = await kind.capture();
      const file = join(folder, 'bytes');
      writeFileSync(file, content);
      const bare = forked('barefanout.js', file);
      pin(bare.pid, 0);
      const [{ port }] = await once(bare, 'message');
      const common = { count: listeners, live: kind.live, end: kind.end(), least: Math.floor(content.length * 0.99) };
      const [ours, theirs] = [[], []];
      for (let round = -1; round < rounds; round++) {
        signal.throwIfAborted();
        const own = await taken(readers, { ...stream, ...common, request: kind.request() }, kind.go);
        const path = kind.live ? '/live' : '/replay';
        const other = await taken(readers, { ...common, port, request: requestText(path, {}) }, () => bare.send('go'));
        // The first round warms both up.
        if (round < 0) continue;
        ours.push(megabytes(own));
        theirs.push(megabytes(other));
      }
      bare.kill();
      await once(bare, 'close');
      const what = `${kind.what}, ${patients.toLocaleString('en')} messages to each`;
      report.ratio({ what, ours, theirs, against: 'the same bytes', unit: 'MB/s', budget: { atLeast: 0.5 } });
    }
    readers.kill();
  });
}

const megabytes = ({ bytes, milliseconds }) => bytes / 1_000_000 / (milliseconds / 1000);

/** All that is kept is read from its beginning. */
function replay(url) {
  const path = '/api/v1/stream?lastEventId=0';
  let last = '';
  return {
    what: 'replay',
    live: false,
    request: () => requestText(path, HEADERS),
    end: () => last,
    go: () => {},
    capture: async () => {
      const newest = await newestMessage(url);
      last = `id: ${newest}\n`;
      return streamed(`${url}${path}`, last);
    },
  };
}

/** Listeners wait at the end of the stream while a delivery is made. */
function live(url, deliver) {
  const path = '/api/v1/stream';
  return {
    what: 'live',
    live: true,
    request: () => requestText(path, HEADERS),
    end: () => DELIVERED,
    go: deliver,
    capture: () => streamed(`${url}${path}`, DELIVERED, deliver),
  };
}

function requestText(path, headers) {
  const lines = Object.entries({ host: '127.0.0.1', ...headers }).map(([name, value]) => `${name}: ${value}\r\n`);
  return `GET ${path} HTTP/1.1\r\n${lines.join('')}\r\n`;
}

async function answered(url) {
  const response = await fetch(url, { headers: HEADERS });
  const text = await response.text();
  if (response.status !== 200) throw new Error(`${url} was answered by ${response.status}: ${text.slice(0, 300)}`);
  return text;
}

async function newestMessage(url) {
  return Number(/^molar_stream_newest_message (\d+)$/m.exec(await answered(`${url}/metrics`))[1]);
}

/** What one listener gets, up to the end of the message that `end` is in; `begun` is called when it listens. */
async function streamed(url, end, begun = () => {}) {
  const response = await fetch(url, { headers: HEADERS });
  begun();
  const chunks = [];
  let tail = '';
  for await (const chunk of response.body) {
    chunks.push(chunk);
    tail = `${tail}${Buffer.from(chunk).toString('latin1')}`.slice(-65_536);
    if (tail.includes(end) && tail.endsWith('\n\n')) return Buffer.concat(chunks);
  }
  throw new Error(`${url} ended before ${end.trim()}.`);
}

/** Has the listeners read once, and answers what it took. */
async function taken(readers, job, go) {
  readers.send(job);
  await once(readers, 'message');
  readers.send('go');
  go();
  const [result] = await once(readers, 'message');
  return result;
}

function forked(module, ...args) {
  return watch(fork(resolve(import.meta.dirname, module), args)).child;
}

/** Where the servers and the listeners run: on a core each, where that can be had. */
const placesText = () => (process.platform === 'linux' ? ', on a core of its own; the servers share the other' : '');

function pin(pid, core) {
  if (process.platform === 'linux')
    execFileSync('taskset', ['-a', '-p', '-c', String(core), String(pid)], { stdio: 'ignore' });
}
