// Exports the patients of a synthetic practice through the real server and client, and reports speed and memory.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { finish, inFolder, say, withServer } from './processes.js';

/** Megabytes that each side may take at most, whatever the size of the practice. */
const LIMITS = { client: 150, server: 250 };

/** Measures the small or the large demo practice; answers whether both sides kept within their memory. */
export function measureExport(size) {
  return inFolder(async (folder) => {
    const data = join(folder, 'data');
    const began = performance.now();
    return withServer(['--data', data, '--demo', size], {}, (_, server) => {
      const seconds = (performance.now() - began) / 1000;
      say(`${size} practice ready after ${seconds.toFixed(1)} s, server at ${Math.round(server.megabytes)} MB`);
      return exportPatients(demoEnvironment(data), server);
    });
  });
}

/** MOLAR_URL, MOLAR_ORGANIZATION and MOLAR_TOKEN of the demo practice. */
function demoEnvironment(data) {
  const text = readFileSync(join(data, 'demo.env'), 'utf8');
  return Object.fromEntries([...text.matchAll(/^export (\w+)='([^']*)'$/gm)].map(([, name, value]) => [name, value]));
}

async function exportPatients(environment, server) {
  server.megabytes = 0;
  let lines = 0;
  const { seconds, peak } = await finish(['patients', 'list', '--csv'], environment, (chunk) => {
    for (const byte of chunk) if (byte === 10) lines++;
  });
  say(`${lines - 1} patients in ${seconds.toFixed(1)} s: ${Math.round((lines - 1) / seconds)} a second`);
  const over = Object.entries({ client: peak, server: server.megabytes }).filter(([side, megabytes]) => {
    say(`${side}: ${Math.round(megabytes)} MB at most, ${LIMITS[side]} MB allowed`);
    return megabytes > LIMITS[side];
  });
  return over.length === 0;
}
