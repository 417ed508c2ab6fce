// Clients that post patients, in a process of their own: each sends its next request as soon as the last is answered.
// Reads a job as JSON from its first argument, and prints a line of JSON: records made, and in how many seconds.
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { connect } from 'node:net';
import { LOCATIONS } from './practice.js';

const { urls, clients, seconds, organizations, token } = JSON.parse(process.argv[2]);

const headOf = (host, organization) =>
  [
    'POST /api/v1/patients HTTP/1.1',
    `Host: ${host}`,
    `Authorization: Bearer ${token}`,
    `Organization-ID: ${organization}`,
    'Content-Type: application/json',
  ].join('\r\n');

/** No two requests are the same: names, days of birth and keys differ as they do in a practice. */
const run = randomUUID();
let made = 0;
function request(head) {
  const number = ++made;
  const body = JSON.stringify({
    firstName: `Marigold${number % 97}`,
    lastName: `Fenwick${number % 389}`,
    gender: 'F',
    dateOfBirth: `19${50 + (number % 50)}-0${1 + (number % 9)}-1${number % 10}`,
    patientStatus: 'ACTIVE',
    contactMethod: 'Call me',
    languageType: 'English',
    phones: [{ phoneType: 'HOME', number: `(303) 555-${String(number % 10_000).padStart(4, '0')}`, sequence: 1 }],
    preferredLocation: { id: LOCATIONS[number % LOCATIONS.length].id },
    address1: '12 Windmill Way',
    city: 'Alder Springs',
    state: 'CO',
    postalCode: '80437',
  });
  return `${head}\r\nIdempotency-Key: ${run}-${number}\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
}

let records = 0;

/** One client, on a connection of its own, until the time is over. */
async function client(at, until) {
  const { hostname, port, host } = new URL(urls[at % urls.length]);
  const head = headOf(host, organizations[Math.floor(at / urls.length) % organizations.length]);
  const socket = connect({ host: hostname, port: Number(port), noDelay: true });
  await once(socket, 'connect');
  await new Promise((resolve, reject) => {
    let text = '';
    socket.on('error', reject);
    socket.on('close', () => reject(new Error('The server closed a connection.')));
    socket.on('data', (chunk) => {
      text += chunk.latin1Slice();
      if (!isWhole(text)) return;
      if (!text.startsWith('HTTP/1.1 201')) return reject(new Error(`A POST was answered by ${text.slice(0, 2000)}`));
      text = '';
      records++;
      if (performance.now() < until) socket.write(request(head), 'latin1');
      else resolve();
    });
    socket.write(request(head), 'latin1');
  });
  socket.removeAllListeners('close');
  socket.destroy();
}

/** Whether an answer has arrived to its end. */
function isWhole(text) {
  const end = text.indexOf('\r\n\r\n');
  return end >= 0 && text.length >= end + 4 + Number(/\r\ncontent-length: (\d+)/i.exec(text)?.[1]);
}

const began = performance.now();
await Promise.all(Array.from({ length: clients }, (_, at) => client(at, began + seconds * 1000)));
process.stdout.write(`${JSON.stringify({ records, seconds: (performance.now() - began) / 1000 })}\n`);
