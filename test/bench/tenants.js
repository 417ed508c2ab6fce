// How long an honest tenant waits on a server of one core while another one attacks it, and what memory that takes.
import { spawn } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { constants, setPriority } from 'node:os';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import sharp from 'sharp';
import { LOAD_CORE, pin } from './cores.js';
import { ownFolders } from './import.js';
import { pinServer, withLoad } from './pinned.js';
import { FIRST, LOCATIONS, NEW_PATIENT, ORGANIZATION, TOKEN, writePractice } from './practice.js';
import { textOf, watch, withServer } from './processes.js';
import { requestText } from './served.js';

const SIZE = { patients: 20_000, transactions: 80_000 };
const SMALL = { patients: 4_000, transactions: 16_000 };
const HONEST = { patients: 500, organization: 'honest-practice', token: 'token-of-an-honest-practice' };
/** Between an answer and the next request of the honest tenant: a user, not a load. Milliseconds. */
const PAUSE = 3;

/** Measures gets and lists of the honest tenant alone, and beside each kind of attack and all of them. */
export async function measure({ folder, signal, small, report }) {
  report.section(
    'An honest tenant beside a hostile one, one core',
    `What 99 of 100 requests of an honest organization took at most (gets of a patient and lists of 100 patients in turn, ${PAUSE} ms between them): alone, and while another organization attacks with hundreds of connections. Budgets, rate limit, auth and audit are as they are without flags.`,
  );
  const data = await twoPractices(folder, small ? SMALL : SIZE, signal);
  const milliseconds = small ? 2_000 : 5_000;
  const attacks = await attacksOf();
  for (const [name, requests] of Object.entries(attacks)) {
    signal.throwIfAborted();
    await withServer(['--data', data], ownFolders(folder), async (url, server) => {
      const port = Number(new URL(url).port);
      pinServer(server.child.pid);
      const honest = { port, pid: server.child.pid, connections: 1, pause: PAUSE, requests: honestRequests() };
      await withLoad(folder, { honest }, async (load) => {
        const p99 = async () => (await load(['honest'], milliseconds))[0].p99;
        await p99();
        const alone = [];
        const beside = [];
        let statuses;
        for (let round = 0; round < (small ? 2 : 4); round++) {
          alone.push(await p99());
          statuses = await withVillain({ port, requests }, async () => beside.push(await p99()));
        }
        report.note(`${name}: the hostile tenant was answered ${statuses}`);
        report.ratio({
          what: `p99 beside ${name}`,
          ours: beside,
          theirs: alone,
          against: 'alone',
          unit: 'ms',
        });
        report.value({
          what: `memory of the server, ${name}`,
          values: [server.peak],
          unit: 'MB',
        });
      });
    });
  }
}

async function withVillain(what, work) {
  const script = resolve(import.meta.dirname, 'villain.js');
  const { child } = watch(spawn(process.execPath, [script], { stdio: ['pipe', 'pipe', 'inherit'] }));
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  try {
    child.stdin.write(`${JSON.stringify(what)}\n`);
    pin(child.pid, LOAD_CORE);
    // The honest tenant is never kept waiting by the hostile one's own process.
    setPriority(child.pid, constants.priority.PRIORITY_LOW);
    await lines.next();
    await work();
    child.stdin.write('\n');
    return (await lines.next()).value;
  } finally {
    child.kill('SIGKILL');
  }
}

/** A data folder with both organizations. */
async function twoPractices(folder, { patients, transactions }, signal) {
  const data = join(folder, 'tenants');
  const file = join(folder, 'practice.ndjson');
  const import_ = () =>
    textOf(['server', 'import', file, '--data', data, '--json', '--allow-credentials'], ownFolders(folder));
  await writePractice(file, patients, transactions, signal);
  await import_();
  await writePractice(file, HONEST.patients, 0, signal);
  const lines = readFileSync(file, 'utf8')
    .replaceAll(ORGANIZATION, HONEST.organization)
    .replaceAll(TOKEN, HONEST.token);
  writeFileSync(file, lines);
  await import_();
  return data;
}

const headersOf = (token, organization) => ({ authorization: `Bearer ${token}`, 'organization-id': organization });

function honestRequests() {
  const headers = headersOf(HONEST.token, HONEST.organization);
  return Array.from({ length: 200 }, (_, n) =>
    requestText(
      'GET',
      `/api/v1/patients${n % 2 === 0 ? `/${FIRST.patient + n}` : `?pageSize=100&lastId=${FIRST.patient + n}`}`,
      headers,
    ),
  );
}

async function attacksOf() {
  const headers = headersOf(TOKEN, ORGANIZATION);
  const json = { ...headers, 'content-type': 'application/json' };
  const get = (path) => requestText('GET', `/api/v1/${path}`, headers);
  const aging = `agingbalances/report?filter=${encodeURIComponent(`location.id==${LOCATIONS[0].id},page==1`)}`;
  const image = await sharp({ create: { width: 4000, height: 3000, channels: 3, background: 'red' } })
    .jpeg()
    .toBuffer();
  const file = { content: image.toString('base64'), fromX: 0, fromY: 0, width: 3000, height: 2000, ratio: 0.5 };
  const document = JSON.stringify({ name: 'attack', mimeType: 'JPEG', file });
  const edge = 7071;
  const large = await sharp({ create: { width: edge, height: edge, channels: 3, background: 'red' } })
    .jpeg({ progressive: true })
    .toBuffer();
  const upload = { name: 'large', mimeType: 'JPEG', file: { ...file, content: large.toString('base64') } };
  const list = get('patients?pageSize=500');
  const kinds = {
    gets: [{ text: get(`patients/${FIRST.patient}`), connections: 200 }],
    lists: [{ text: list, connections: 200 }],
    reports: [{ text: get(aging), connections: 50 }],
    async: [{ text: get('patients/async'), connections: 200 }],
    posts: [{ text: requestText('POST', '/api/v1/patients', json, NEW_PATIENT), connections: 100 }],
    images: [{ text: requestText('POST', '/api/v1/documents', json, document), connections: 50 }],
    'large images': [{ text: requestText('POST', '/api/v1/documents', json, JSON.stringify(upload)), connections: 20 }],
    'lists that nobody reads': [{ text: list, connections: 200, reads: false }],
  };
  // Together fewer than the server takes (`--max-connections`), or there would be none for the honest tenant: a budget of
  // the whole server, which a quarter for each address keeps from one attacker elsewhere, not on the same machine.
  const all = Object.values(kinds)
    .flat()
    .map((kind) => ({ ...kind, connections: kind.connections * 0.7 }));
  return { ...kinds, 'all of it': all };
}
