// A bare loop, in a process of its own: fetches pages whose addresses are known beforehand, one after another over one
// connection, and throws them away. What any export takes at least. Its arguments: the address of the server, how many
// patients there are, how many a page has, and what to accept as an encoding. Prints the bytes of all answers as they
// came over the connection, with their heads.
import { Agent, get } from 'node:http';
import { FIRST, ORGANIZATION, TOKEN } from './practice.js';

const [url, patients, size, encoding] = [
  process.argv[2],
  Number(process.argv[3]),
  Number(process.argv[4]),
  process.argv[5],
];
const agent = new Agent({ keepAlive: true, maxSockets: 1 });
const headers = {
  authorization: `Bearer ${TOKEN}`,
  'organization-id': ORGANIZATION,
  ...(encoding !== undefined && { 'accept-encoding': encoding }),
};

/** The connection, once a page of which nothing is kept has come. */
function drop(lastId) {
  return new Promise((resolve, reject) => {
    const request = get(`${url}/api/v1/patients?pageSize=${size}&lastId=${lastId}`, { agent, headers }, (response) => {
      if (response.statusCode !== 200) reject(new Error(`A page was answered by ${response.statusCode}.`));
      const { socket } = response;
      response.resume().once('end', () => resolve(socket));
    });
    request.once('error', reject);
  });
}

let socket;
// One page more than there are records for: an export asks for it too, to know that it has come to the end.
for (let before = 0; before < patients + size; before += size) socket = await drop(FIRST.patient - 1 + before);
agent.destroy();
process.stdout.write(`${socket.bytesRead}\n`);
