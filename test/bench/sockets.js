// The load of the measurements of servers, in a process of its own: as little work a request as there can be, so that
// the servers are what is measured. Raw connections, each with its next prepared request as soon as the last one is
// answered. Reads its targets from the file that is its argument, then lines `{"targets", "milliseconds", "awake"}`
// from its standard input, which are run at the same time; a line tells what came of each.
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { createInterface } from 'node:readline';
import { processSeconds } from './machine.js';

/**
 * `{ [name]: { port, pid, connections, requests: [whole text of a request…], pause? } }`; `pause` is in milliseconds, `pid`
 * is a process of the server or a list of them.
 */
const targets = JSON.parse(readFileSync(process.argv[2], 'utf8'));
const END_OF_HEADERS = Buffer.from('\r\n\r\n');

/** Answers on one connection, which come one after the other: `finished` is called with the status of each. */
function readAnswers(socket, finished) {
  let head = Buffer.alloc(0);
  let left = 0;
  let status = 0;
  socket.on('data', (chunk) => {
    let rest = chunk;
    if (left === 0) {
      head = head.length === 0 ? chunk : Buffer.concat([head, chunk]);
      const end = head.indexOf(END_OF_HEADERS);
      if (end < 0) return;
      const text = head.latin1Slice(0, end);
      status = Number(text.slice(9, 12));
      left = Number(/\r\ncontent-length: *(\d+)/i.exec(text)?.[1] ?? Number.NaN);
      if (!(left > 0)) throw new Error(`An answer without a length cannot be measured: ${text}`);
      rest = head.subarray(end + END_OF_HEADERS.length);
      head = Buffer.alloc(0);
    }
    left -= rest.length;
    if (left < 0) throw new Error('More was answered than was asked for.');
    if (left === 0) finished(status);
  });
}

/** One connection: requests one after another until the time is over. */
async function client({ port, requests, pause = 0 }, first, until, times) {
  const socket = connect(port, '127.0.0.1');
  socket.setNoDelay(true);
  await once(socket, 'connect');
  let next = first;
  let began = 0;
  const ask = () => {
    began = performance.now();
    socket.write(requests[next++ % requests.length], 'latin1');
  };
  await new Promise((resolve, reject) => {
    socket.once('error', reject);
    socket.once('close', () => reject(new Error('The server closed a connection.')));
    readAnswers(socket, (status) => {
      if (status >= 300) return reject(new Error(`A request was answered by ${status}.`));
      const now = performance.now();
      times.push(now - began);
      if (now >= until) return resolve();
      return pause === 0 ? ask() : setTimeout(ask, pause);
    });
    ask();
  });
  socket.removeAllListeners('close').destroy();
}

/**
 * Answers a second, milliseconds that 99 of 100 took at most, and microseconds of the server's processor time for each: of
 * all its processes, and of the one that took most.
 */
async function run(target, milliseconds) {
  const { connections, pid, ...asked } = targets[target];
  const times = [];
  const pids = [pid].flat();
  const used = pids.map(processSeconds);
  const began = performance.now();
  const each = Math.ceil(asked.requests.length / connections);
  await Promise.all(
    Array.from({ length: connections }, (_, index) => client(asked, index * each, began + milliseconds, times)),
  );
  const took = performance.now() - began;
  const costs = pids.map((each, at) => ((processSeconds(each) - used[at]) * 1e6) / times.length);
  const cost = costs.reduce((sum, each) => sum + each);
  times.sort((a, b) => a - b);
  return {
    rate: (times.length / took) * 1000,
    p99: times[Math.floor(times.length * 0.99)],
    cost,
    most: Math.max(...costs),
  };
}

/** Keeps this process from waiting, until the function that it answers is called: to wake it costs a server more than some answers do. */
function stayAwake() {
  let isOver = false;
  const again = () => isOver || setImmediate(again);
  again();
  return () => {
    isOver = true;
  };
}

for await (const line of createInterface({ input: process.stdin })) {
  const { targets: names, milliseconds, awake } = JSON.parse(line);
  const sleep = awake ? stayAwake() : () => {};
  const found = await Promise.all(names.map((name) => run(name, milliseconds)));
  sleep();
  process.stdout.write(`${JSON.stringify(found)}\n`);
}
