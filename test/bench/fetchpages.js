// A bare loop, in a process of its own: fetches pages whose addresses are known beforehand, one after another over one
// connection, and throws them away. What any export takes at least. Its arguments: the address of the server, how many
// patients there are, and how many a page has.
import { Agent, get } from 'node:http';
import { FIRST, ORGANIZATION, TOKEN } from './practice.js';

const [url, patients, size] = [process.argv[2], Number(process.argv[3]), Number(process.argv[4])];
const agent = new Agent({ keepAlive: true, maxSockets: 1 });
const headers = { authorization: `Bearer ${TOKEN}`, 'organization-id': ORGANIZATION };

/** Bytes of a page, none of which is kept. */
function drop(lastId) {
  return new Promise((resolve, reject) => {
    let bytes = 0;
    const request = get(`${url}/api/v1/patients?pageSize=${size}&lastId=${lastId}`, { agent, headers }, (response) => {
      if (response.statusCode !== 200) reject(new Error(`A page was answered by ${response.statusCode}.`));
      response.on('data', (chunk) => {
        bytes += chunk.length;
      });
      response.once('end', () => resolve(bytes));
    });
    request.once('error', reject);
  });
}

let bytes = 0;
// One page more than there are records for: an export asks for it too, to know that it has come to the end.
for (let before = 0; before < patients + size; before += size) bytes += await drop(FIRST.patient - 1 + before);
agent.destroy();
process.stdout.write(`${bytes}\n`);
