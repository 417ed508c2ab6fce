// What a hostile tenant does to a server, in a process of its own: many connections, each with its next request as soon
// as the last one is answered, whatever the answer is; some never read theirs. The first line of its standard input is
// JSON: `{ port, requests: [{ text, connections, reads }] }`. It says `ready` a little after all are connected, and goes
// on until it is killed; each further line asks for a line with how many answers had which status since the last one.
import { once } from 'node:events';
import { connect } from 'node:net';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';

/**
 * Milliseconds in which a server takes up the connections: one in a turn of its event loop, so that whoever comes behind a
 * few hundred waits for them all. What is measured is the time after that.
 */
const SETTLING = 1500;

const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]();
const { port, requests } = JSON.parse((await lines.next()).value);
let statuses = {};

function ask(text, reads) {
  const socket = connect(port, '127.0.0.1');
  const again = () => setTimeout(() => ask(text, reads), 50);
  let expected = 0;
  let head = '';
  socket.on('error', () => {}).on('close', again);
  socket.on('connect', () => {
    if (!reads) socket.pause();
    socket.write(reads ? text : text.repeat(20), 'latin1');
  });
  socket.on('data', (bytes) => {
    if (expected === 0) {
      head += bytes.latin1Slice();
      const end = head.indexOf('\r\n\r\n');
      if (end < 0) return;
      const status = head.slice(9, 12);
      statuses[status] = (statuses[status] ?? 0) + 1;
      expected = Number(/\r\ncontent-length: *(\d+)/i.exec(head)?.[1] ?? 0) - (head.length - end - 4);
      head = '';
    } else {
      expected -= bytes.length;
    }
    if (expected > 0) return;
    expected = 0;
    socket.write(text, 'latin1');
  });
  return once(socket, 'connect');
}

await Promise.all(
  requests.flatMap(({ text, connections, reads = true }) =>
    Array.from({ length: connections }, () => ask(text, reads)),
  ),
);
await sleep(SETTLING);
process.stdout.write('ready\n');
for await (const _ of lines) {
  process.stdout.write(`${JSON.stringify(statuses)}\n`);
  statuses = {};
}
