// How fast a stream reaches many listeners of one organization, against the same bytes written to as many sockets.
import { fork, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { ownFolders } from './import.js';
import { ORGANIZATION, TOKEN, writePractice } from './practice.js';
import { textOf, watch, withServer } from './processes.js';

const HEADERS = { authorization: `Bearer ${TOKEN}`, 'organization-id': ORGANIZATION };
/** The last message of an async delivery, and of nothing else. */
const DELIVERED = 'event: READ_COMPLETE\n';
/** What one listener hears at first must have come within so long. */
const PATIENCE_MILLISECONDS = 60_000;
/** Beyond what the server keeps pages for that nobody reads: a replay reads its own. */
const PAGES_GONE_MILLISECONDS = 2500;
/** Whether processes can be given a core each. */
const PINS = spawnSync('taskset', ['--version'], { stdio: 'ignore' }).status === 0;

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
    `${listeners} listeners of one organization in one process${placesText()}. The stream is read from the outbox of the database, anew in each round, its tokens are checked, and what is listened to is audited; what is live is also written, durably, while it is sent. The other side is a bare node:http server that writes the same bytes from memory, 64 KiB at once.`,
  );
  await withServer(data, env, async (url, { child }) => {
    const readers = forked('listeners.js');
    pin(child.pid, 0);
    pin(readers.pid, 1);
    for (const kind of [replay(url), live(url)]) {
      const content = await kind.capture();
      const file = join(folder, 'bytes');
      writeFileSync(file, content);
      const bare = forked('barefanout.js', file);
      pin(bare.pid, 0);
      const { port } = await heard(bare, signal);
      const job = { count: listeners, live: kind.live, end: kind.end(), least: Math.floor(content.length * 0.99) };
      const own = { ...job, port: Number(new URL(url).port), request: requestText(kind.path, HEADERS) };
      const other = { ...job, port, request: requestText(kind.live ? '/live' : '/replay', {}) };
      const [ours, theirs] = [[], []];
      // The first round warms both up.
      for (let round = 0; round <= rounds; round++) {
        signal.throwIfAborted();
        await sleep(kind.live ? 0 : PAGES_GONE_MILLISECONDS, undefined, { signal });
        ours[round] = await taken(readers, own, kind.go, signal);
        theirs[round] = await taken(readers, other, () => bare.send('go'), signal);
      }
      bare.kill();
      await once(bare, 'close');
      const kept = report.ratio({
        what: `${kind.what}, ${patients.toLocaleString('en')} messages to each`,
        ours: ours.slice(1),
        theirs: theirs.slice(1),
        against: 'the same bytes',
        unit: 'MB/s',
      });
      if (!kept) report.note(kind.costs);
    }
    readers.kill();
  });
}

/** All that is kept is read from its beginning. */
function replay(url) {
  const path = '/api/v1/stream?lastEventId=0';
  let last = '';
  return {
    what: 'replay',
    costs:
      'Beside the writes themselves, a replay takes its time for reading pages of the outbox and framing them, once for all listeners, and for taking in the listeners.',
    live: false,
    path,
    end: () => last,
    go: () => {},
    capture: async () => {
      last = `id: ${await newestMessage(url)}\n`;
      return streamed(`${url}${path}`, last);
    },
  };
}

/** Listeners wait at the end of the stream while a delivery is made. */
function live(url) {
  const path = '/api/v1/stream';
  const go = () => answered(`${url}/api/v1/patients/async?pageSize=1`);
  return {
    what: 'live',
    costs:
      'Beside the writes themselves, what is live takes its time for being made on the same core: records are read, written to the outbox with a commit for every 500, and read from there once for all listeners.',
    live: true,
    path,
    end: () => DELIVERED,
    go,
    capture: () => streamed(`${url}${path}`, DELIVERED, go),
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
  const response = await fetch(url, { headers: HEADERS, signal: AbortSignal.timeout(PATIENCE_MILLISECONDS) });
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

/** Has the listeners read once, and answers how many megabytes a second they read. */
async function taken(readers, job, go, signal) {
  readers.send(job);
  await heard(readers, signal);
  readers.send('go');
  const [{ bytes, milliseconds }] = await Promise.all([heard(readers, signal), go()]);
  return bytes / 1_000_000 / (milliseconds / 1000);
}

/** The next message of a process, which must not end before. */
async function heard(child, signal) {
  const over = new AbortController();
  const options = { signal: AbortSignal.any([signal, over.signal]) };
  const ended = once(child, 'close', options).then(() => {
    throw new Error('A process of the measurement ended before it answered.');
  });
  try {
    const [message] = await Promise.race([once(child, 'message', options), ended]);
    return message;
  } finally {
    over.abort();
  }
}

function forked(module, ...args) {
  return watch(fork(resolve(import.meta.dirname, module), args)).child;
}

/** Where the servers and the listeners run: on a core each, where that can be had. */
const placesText = () => (PINS ? ', on a core of its own; the servers share the other' : '');

function pin(pid, core) {
  if (PINS) spawnSync('taskset', ['-a', '-p', '-c', String(core), String(pid)], { stdio: 'ignore' });
}
