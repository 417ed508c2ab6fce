// What a stream is measured against, in a process of its own: a bare node:http server that writes bytes which it has in
// memory to everybody who asks. `GET /replay` at once; `GET /live` when its parent says so. Takes the file of the bytes.
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';

const PIECE_BYTES = 64 * 1024;

const content = readFileSync(process.argv[2]);
const pieces = [];
for (let at = 0; at < content.length; at += PIECE_BYTES) pieces.push(content.subarray(at, at + PIECE_BYTES));

async function writeAll(response) {
  for (const piece of pieces) if (!response.write(piece)) await Promise.race([once(response, 'drain'), response.gone]);
}

const waiting = new Set();
const server = createServer((request, response) => {
  response.gone = once(response, 'close');
  response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8' });
  response.write(':\n\n');
  if (request.url === '/live') waiting.add(response);
  else void writeAll(response);
});
process.on('message', () => {
  for (const response of waiting) void writeAll(response);
  waiting.clear();
});
process.once('disconnect', () => process.exit());
server.listen(0, '127.0.0.1', () => process.send({ port: server.address().port }));
